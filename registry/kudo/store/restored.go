// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// restored refuses watches that begin in a future. A client has a resourceVersion above the newest there is if the data were
// replaced by an older copy. The generic storage would have it wait, without a word, until as much is written again, and it would
// never hear of what was written before: a controller would do nothing for hours. Told that its version expired, it lists anew.
type restored struct{ storage.Interface }

// Watch begins after a resourceVersion.
func (r restored) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	asked, err := r.Versioner().ParseResourceVersion(opts.ResourceVersion)
	if err == nil && asked > 0 { // what cannot be read the storage refuses better
		newest, err := r.GetCurrentResourceVersion(ctx)
		if err != nil {
			return nil, err
		}
		if asked > newest {
			return nil, apierrors.NewResourceExpired(fmt.Sprintf("resourceVersion %d is from after the newest, %d: "+
				"the data were replaced by an older copy; list anew and watch from there", asked, newest))
		}
	}
	return r.Interface.Watch(ctx, key, opts)
}
