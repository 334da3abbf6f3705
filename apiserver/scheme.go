// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/install"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

var (
	// Scheme knows all types that the server serves.
	Scheme = runtime.NewScheme()
	// Codecs encode and decode them.
	Codecs = serializer.NewCodecFactory(Scheme)
)

func init() {
	install.Install(Scheme)
	// The generic server answers these in version v1 of the empty group.
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(Scheme, unversioned)
	Scheme.AddUnversionedTypes(unversioned,
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
}

// StorageCodec writes protobuf of the newest version and reads whatever any version of the server wrote.
func StorageCodec() (runtime.Codec, error) {
	info, ok := runtime.SerializerInfoForMediaType(Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		return nil, fmt.Errorf("the scheme has no serializer for %s", runtime.ContentTypeProtobuf)
	}
	return Codecs.CodecForVersions(info.Serializer, Codecs.UniversalDeserializer(), v1beta1.SchemeGroupVersion, kudo.SchemeGroupVersion), nil
}
