// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package certificates

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// authorityCertKey and authorityKeyKey are the entries of the Secret besides those of its type.
	authorityCertKey = "ca.crt"
	authorityKeyKey  = "ca.key"
	// checkInterval is how often the age of the certificates is checked.
	checkInterval = time.Hour
	// startTimeout is how long the server waits for kube-apiserver when it starts.
	startTimeout = 2 * time.Minute
)

// Provider serves the certificate that the Secret holds, and renews it.
type Provider struct {
	client          kubernetes.Interface
	namespace, name string
	hosts           []string
	clock           clock.PassiveClock

	mu        sync.RWMutex
	current   *material
	listeners []dynamiccertificates.Listener
}

var (
	_ dynamiccertificates.CertKeyContentProvider = &Provider{}
	_ dynamiccertificates.ControllerRunner       = &Provider{}
)

// NewProvider makes a provider for the Secret of this name. hosts are the names and addresses by which the server is reached; the
// first must be that by which kube-apiserver does.
func NewProvider(client kubernetes.Interface, namespace, name string, hosts []string) *Provider {
	return &Provider{client: client, namespace: namespace, name: name, hosts: hosts, clock: clock.RealClock{}}
}

// Name for logs.
func (p *Provider) Name() string { return "secret " + p.namespace + "/" + p.name }

// CurrentCertKeyContent is the certificate and its key, in PEM.
func (p *Provider) CurrentCertKeyContent() (cert, key []byte) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.current == nil {
		return nil, nil
	}
	return p.current.cert, p.current.key
}

// Bundle is what clients must trust, in PEM.
func (p *Provider) Bundle() []byte {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.current == nil {
		return nil
	}
	return p.current.bundle
}

// AddListener registers who wants to know of changes.
func (p *Provider) AddListener(l dynamiccertificates.Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners = append(p.listeners, l)
}

// RunOnce reads the Secret, and makes or renews it if that is due. It waits for kube-apiserver for a while.
func (p *Provider) RunOnce(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, time.Second, startTimeout, true, func(ctx context.Context) (bool, error) {
		first := last == nil
		if last = p.check(ctx); last != nil && first {
			klog.FromContext(ctx).Error(last, "No serving certificate yet; trying again", "secret", p.namespace+"/"+p.name)
		}
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("the serving certificate in secret %s/%s: %w; the server needs the right to get, create and update it, or its own files with --tls-cert-file and --tls-private-key-file", p.namespace, p.name, last)
	}
	return err
}

// Run follows the Secret, which another replica may renew, and checks ages, until ctx ends.
func (p *Provider) Run(ctx context.Context, _ int) {
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithNamespace(p.namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", p.name).String()
		}))
	changed := func(any) { p.checkAndLog(ctx) }
	_, err := factory.Core().V1().Secrets().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed})
	if err != nil {
		klog.FromContext(ctx).Error(err, "Changes of the Secret are noticed by the hourly check only")
	}
	factory.Start(ctx.Done())
	wait.UntilWithContext(ctx, p.checkAndLog, checkInterval)
}

func (p *Provider) checkAndLog(ctx context.Context) {
	if err := p.check(ctx); err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Cannot check the serving certificate; trying again within the hour", "secret", p.namespace+"/"+p.name)
	}
}

// check brings Secret, material in memory and the time together. Replicas that do so at once settle it by the version of the Secret.
func (p *Provider) check(ctx context.Context) error {
	secrets := p.client.CoreV1().Secrets(p.namespace)
	secret, err := secrets.Get(ctx, p.name, metav1.GetOptions{})
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	var stored *material
	if !missing {
		stored = &material{secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey], secret.Data[authorityCertKey], secret.Data[authorityKeyKey]}
	}
	wanted, err := renew(stored, p.hosts, p.clock.Now())
	if err != nil {
		return err
	}
	if wanted != stored {
		if missing {
			secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: p.name, Namespace: p.namespace}, Type: corev1.SecretTypeTLS}
		}
		secret.Data = map[string][]byte{corev1.TLSCertKey: wanted.cert, corev1.TLSPrivateKeyKey: wanted.key, authorityCertKey: wanted.bundle, authorityKeyKey: wanted.authorityKey}
		if missing {
			_, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
		} else {
			_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
		}
		if err != nil {
			return err
		}
		klog.FromContext(ctx).Info("Renewed the serving certificate", "secret", p.namespace+"/"+p.name)
	}
	p.use(wanted)
	return nil
}

func (p *Provider) use(m *material) {
	p.mu.Lock()
	same := p.current != nil && bytes.Equal(p.current.cert, m.cert) && bytes.Equal(p.current.bundle, m.bundle)
	p.current = m
	listeners := p.listeners
	p.mu.Unlock()
	if same {
		return
	}
	for _, l := range listeners {
		l.Enqueue()
	}
}
