// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"crypto/md5" //nolint:gosec // KUDO's hash, which must not change; it tells contents apart and protects nothing
	"encoding/hex"
	"sync"

	"gopkg.in/yaml.v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// noFolding makes yaml.v2 write long strings on one line, as the version did with which KUDO computed the hash.
var noFolding = sync.OnceFunc(yaml.FutureLineWrap)

// contentSum is the MD5 of an object's name, labels and content in KUDO's canonical form, and of nothing zeroes. It must
// stay as it is to the bit: another value restarts every pod of every operator.
func contentSum(obj *unstructured.Unstructured) (sum [md5.Size]byte, err error) {
	if obj == nil {
		return sum, nil
	}
	canonical := obj.DeepCopy().Object
	metadata, _ := canonical["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	for _, field := range []string{"namespace", "resourceVersion", "uid", "selfLink", "generateName", "generation", "clusterName", "continue", "creationTimestamp"} {
		delete(metadata, field)
	}
	metadata["annotations"] = map[string]any{}
	for _, list := range []string{"ownerReferences", "finalizers", "managedFields"} {
		metadata[list] = []any{}
	}
	metadata["deletionGracePeriodSeconds"], metadata["remainingItemCount"] = 0, 0
	canonical["metadata"], canonical["apiVersion"], canonical["kind"] = metadata, "", ""
	noFolding()
	text, err := yaml.Marshal(map[string]any{"object": canonical})
	if err != nil {
		return sum, err
	}
	return md5.Sum(text), nil //nolint:gosec // see above
}

func hexSum(b []byte) string {
	sum := md5.Sum(b) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}
