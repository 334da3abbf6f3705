// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Names are the names of the runs of an Instance with these uids, by uid; a run that is not kept any more has none. They come from the
// index of the watch cache as it is, and only if that misses one, from the cache when it is up to date: the run may be new, or
// deleted. ctx carries the namespace.
func (r *REST) Names(ctx context.Context, instance string, uids sets.Set[types.UID]) (map[types.UID]string, error) {
	var names map[types.UID]string
	for _, version := range []string{"0", ""} {
		list, err := r.List(ctx, &metainternalversion.ListOptions{
			FieldSelector: fields.OneTermEqualSelector(v1beta1.InstanceNameField, instance), ResourceVersion: version})
		if err != nil {
			return nil, err
		}
		names = map[types.UID]string{}
		for n := range list.(*kudo.PlanExecutionList).Items {
			if pe := &list.(*kudo.PlanExecutionList).Items[n]; uids.Has(pe.UID) {
				names[pe.UID] = pe.Name
			}
		}
		if len(names) == len(uids) {
			break
		}
	}
	return names, nil
}
