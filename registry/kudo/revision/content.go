// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package revision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"kudo.dev/kudo/apis/kudo"
)

// remembered is how many contents are remembered, by a hundred bytes each: more than a cluster has OperatorVersions in use.
const remembered = 4096

// state is one state of an OperatorVersion as the storage has it. An OperatorVersion holds all templates of its operator, so that
// what follows from a state is worked out once.
type state struct {
	uid             types.UID
	resourceVersion string
}

// stateOf is empty for what was not read from the storage.
func stateOf(ov *kudo.OperatorVersion) (state, bool) {
	return state{ov.UID, ov.ResourceVersion}, ov.UID != "" && ov.ResourceVersion != ""
}

// sumBytes is how much of the hash of its content the name of a revision has.
const sumBytes = 5

// hashes are the shortened hashes of contents, by state.
var hashes = lru.New(remembered)

// Name is the name of the revision that keeps the content of the OperatorVersion for an Instance. Equal contents have equal names, so
// that runs share a revision until the OperatorVersion changes. An OperatorVersion that was read must not have been changed since.
func Name(instance string, ov *kudo.OperatorVersion) (string, error) {
	key, stored := stateOf(ov)
	if stored {
		if hash, known := hashes.Get(key); known {
			return instance + "-" + hash.(string), nil
		}
	}
	content, err := json.Marshal(&ov.Spec)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:sumBytes])
	if stored {
		hashes.Add(key, hash)
	}
	return instance + "-" + hash, nil
}

// comparison is of a revision, which cannot change, with one state of an OperatorVersion.
type comparison struct {
	revision types.UID
	state    state
}

// same guards against a collision of the shortened hashes.
func (r *REST) same(kept *kudo.OperatorVersionRevision, ov *kudo.OperatorVersion) error {
	key, stored := stateOf(ov)
	if stored {
		if _, known := r.equal.Get(comparison{kept.UID, key}); known {
			return nil
		}
	}
	if !apiequality.Semantic.DeepEqual(kept.Data, ov.Spec) {
		return apierrors.NewInternalError(fmt.Errorf("OperatorVersionRevision %q holds another content than OperatorVersion %q; delete the revision and try again", kept.Name, ov.Name))
	}
	if stored {
		r.equal.Add(comparison{kept.UID, key}, nil)
	}
	return nil
}
