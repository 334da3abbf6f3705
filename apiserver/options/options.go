// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"errors"
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/apiserver"
)

const (
	// etcdPrefix keeps this server's data apart from kube-apiserver's, where CRDs of an earlier KUDO live below /registry/kudo.dev.
	etcdPrefix = "/registry-kudo"
	// apiServiceName is the name of the APIService of the group.
	apiServiceName = "v1beta1.kudo.dev"
)

// Options are the settings of a server.
type Options struct {
	// Run holds limits and how the server stops.
	Run *genericoptions.ServerRunOptions
	// Recommended holds storage, serving, authentication, authorization, audit and admission.
	Recommended *genericoptions.RecommendedOptions
	// DataDir is the folder of the embedded etcd, which runs unless --etcd-servers names another.
	DataDir string
	// ServiceNamespace and ServiceName name the Service by which kube-apiserver reaches this server.
	ServiceNamespace, ServiceName string
	// CertificateSecret is the Secret, in ServiceNamespace, that holds the serving certificate.
	CertificateSecret string

	components basecompatibility.ComponentGlobalsRegistry
}

// New returns the defaults.
func New() (*Options, error) {
	codec, err := apiserver.StorageCodec()
	if err != nil {
		return nil, err
	}
	components, err := newComponents()
	if err != nil {
		return nil, err
	}
	o := &Options{
		Run:              genericoptions.NewServerRunOptionsForComponent(basecompatibility.DefaultKubeComponent, components),
		Recommended:      genericoptions.NewRecommendedOptions(etcdPrefix, codec),
		DataDir:          "/var/lib/kudo-apiserver",
		ServiceNamespace: "kudo-system", ServiceName: "kudo-apiserver", CertificateSecret: "kudo-apiserver-tls",
		components: components,
	}
	// A server with one replica is away while it restarts, so it stops fast: requests that come meanwhile are told to try again, and
	// watches are ended, which clients resume.
	o.Run.ShutdownDelayDuration = time.Second
	o.Run.ShutdownSendRetryAfter = true
	o.Run.ShutdownWatchTerminationGracePeriod = 3 * time.Second
	o.Recommended.Etcd.DefaultStorageMediaType = runtime.ContentTypeProtobuf
	o.Recommended.Etcd.StorageConfig.EncodeVersioner = runtime.NewMultiGroupVersioner(v1beta1.SchemeGroupVersion, schema.GroupKind{Group: kudo.GroupName})
	o.Recommended.SecureServing.BindPort = 8443
	// A permission that was granted after a refusal works within two seconds: one that the refusal is remembered, and what the
	// authorizer of the cluster needs to learn of the grant. A revocation works after the ten seconds that are the default.
	o.Recommended.Authorization.DenyCacheTTL = time.Second
	o.Recommended.FeatureGate = components.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	resourcequota.Register(o.Recommended.Admission.Plugins)
	o.Recommended.Admission.RecommendedPluginOrder = append(o.Recommended.Admission.RecommendedPluginOrder, resourcequota.PluginName)
	return o, nil
}

// Flags are all flags, in sections.
func (o *Options) Flags() *cliflag.NamedFlagSets {
	sets := &cliflag.NamedFlagSets{}
	fs := sets.FlagSet("KUDO")
	fs.StringVar(&o.DataDir, "data-dir", o.DataDir, "Folder of the embedded etcd. It is used by one server at a time, and not at all if --etcd-servers is given.")
	fs.StringVar(&o.ServiceNamespace, "service-namespace", o.ServiceNamespace, "Namespace of the Service by which kube-apiserver reaches this server.")
	fs.StringVar(&o.ServiceName, "service-name", o.ServiceName, "Name of the Service by which kube-apiserver reaches this server.")
	fs.StringVar(&o.CertificateSecret, "certificate-secret", o.CertificateSecret, "Secret that holds the serving certificate, which the server makes and renews, unless --tls-cert-file is given. The server then also keeps spec.caBundle of APIService "+apiServiceName+" right.")
	o.Run.AddUniversalFlags(sets.FlagSet("generic"))
	o.Recommended.Etcd.AddFlags(sets.FlagSet("etcd"))
	o.Recommended.SecureServing.AddFlags(sets.FlagSet("serving"))
	o.Recommended.Authentication.AddFlags(sets.FlagSet("authentication"))
	o.Recommended.Authorization.AddFlags(sets.FlagSet("authorization"))
	o.Recommended.Audit.AddFlags(sets.FlagSet("audit"))
	o.Recommended.Features.AddFlags(sets.FlagSet("features"))
	o.Recommended.CoreAPI.AddFlags(sets.FlagSet("kube-apiserver"))
	o.Recommended.Admission.AddFlags(sets.FlagSet("admission"))
	o.Recommended.EgressSelector.AddFlags(sets.FlagSet("egress"))
	o.Recommended.Traces.AddFlags(sets.FlagSet("tracing"))
	return sets
}

// embedded tells whether the server runs its own etcd.
func (o *Options) embedded() bool {
	return len(o.Recommended.Etcd.StorageConfig.Transport.ServerList) == 0
}

// ownCertificate tells whether the server makes its serving certificate itself.
func (o *Options) ownCertificate() bool {
	return o.Recommended.SecureServing.ServerCert.CertKey.CertFile == ""
}

// Complete applies what the flags say of components.
func (o *Options) Complete() error { return o.components.Set() }

// Validate checks the flags; all that is wrong is in one error.
func (o *Options) Validate() error {
	var errs []error
	if o.embedded() {
		if o.DataDir == "" {
			errs = append(errs, errors.New("--data-dir must name a folder for the embedded etcd, or --etcd-servers an external etcd"))
		}
		// The generic check demands servers; the embedded one has no address before it runs.
		o.Recommended.Etcd.StorageConfig.Transport.ServerList = []string{"unix:///embedded"}
		defer func() { o.Recommended.Etcd.StorageConfig.Transport.ServerList = nil }()
	}
	if o.ServiceName == "" || o.ServiceNamespace == "" {
		errs = append(errs, errors.New("--service-name and --service-namespace must not be empty: the certificate is made for the name of the Service"))
	}
	errs = append(errs, o.Run.Validate()...)
	errs = append(errs, o.Recommended.Validate()...)
	errs = append(errs, o.components.Validate()...)
	return utilerrors.NewAggregate(errs)
}

// hosts are the names by which the server is reached. kube-apiserver uses the first.
func (o *Options) hosts() []string {
	service := o.ServiceName + "." + o.ServiceNamespace
	hosts := []string{service + ".svc", service, fmt.Sprintf("%s.svc.cluster.local", service), "localhost", "127.0.0.1"}
	if ip := o.Recommended.SecureServing.BindAddress; ip != nil && !ip.IsUnspecified() && !ip.Equal(net.IPv4(127, 0, 0, 1)) {
		hosts = append(hosts, ip.String())
	}
	return hosts
}
