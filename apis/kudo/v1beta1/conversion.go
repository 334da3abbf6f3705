// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"

	"kudo.dev/kudo/apis/kudo"
)

// Lists carry apiVersion and kind in every item, as lists of custom resources do: clients of KUDO decode the items one by
// one. The item's struct is copied before it is stamped, because it may belong to the watch cache.

// listItems converts the items of a list one by one.
func listItems[In, Out any](items []In, convert func(*In, *Out) error) ([]Out, error) {
	if items == nil {
		return nil, nil
	}
	out := make([]Out, len(items))
	for i := range items {
		if err := convert(&items[i], &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func itemTypeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: SchemeGroupVersion.String(), Kind: kind}
}

// Convert_kudo_OperatorList_To_v1beta1_OperatorList stamps kind and apiVersion on every item.
func Convert_kudo_OperatorList_To_v1beta1_OperatorList(in *kudo.OperatorList, out *OperatorList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *kudo.Operator, o *Operator) error {
		o.TypeMeta = itemTypeMeta("Operator")
		return Convert_kudo_Operator_To_v1beta1_Operator(i, o, s)
	})
	return err
}

// Convert_v1beta1_OperatorList_To_kudo_OperatorList drops kind and apiVersion of the items.
func Convert_v1beta1_OperatorList_To_kudo_OperatorList(in *OperatorList, out *kudo.OperatorList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *Operator, o *kudo.Operator) error {
		return Convert_v1beta1_Operator_To_kudo_Operator(i, o, s)
	})
	return err
}

// Convert_kudo_OperatorVersionList_To_v1beta1_OperatorVersionList stamps kind and apiVersion on every item.
func Convert_kudo_OperatorVersionList_To_v1beta1_OperatorVersionList(in *kudo.OperatorVersionList, out *OperatorVersionList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *kudo.OperatorVersion, o *OperatorVersion) error {
		o.TypeMeta = itemTypeMeta("OperatorVersion")
		return Convert_kudo_OperatorVersion_To_v1beta1_OperatorVersion(i, o, s)
	})
	return err
}

// Convert_v1beta1_OperatorVersionList_To_kudo_OperatorVersionList drops kind and apiVersion of the items.
func Convert_v1beta1_OperatorVersionList_To_kudo_OperatorVersionList(in *OperatorVersionList, out *kudo.OperatorVersionList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *OperatorVersion, o *kudo.OperatorVersion) error {
		return Convert_v1beta1_OperatorVersion_To_kudo_OperatorVersion(i, o, s)
	})
	return err
}

// Convert_kudo_OperatorVersionRevisionList_To_v1beta1_OperatorVersionRevisionList stamps kind and apiVersion on every item.
func Convert_kudo_OperatorVersionRevisionList_To_v1beta1_OperatorVersionRevisionList(in *kudo.OperatorVersionRevisionList, out *OperatorVersionRevisionList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *kudo.OperatorVersionRevision, o *OperatorVersionRevision) error {
		o.TypeMeta = itemTypeMeta("OperatorVersionRevision")
		return Convert_kudo_OperatorVersionRevision_To_v1beta1_OperatorVersionRevision(i, o, s)
	})
	return err
}

// Convert_v1beta1_OperatorVersionRevisionList_To_kudo_OperatorVersionRevisionList drops kind and apiVersion of the items.
func Convert_v1beta1_OperatorVersionRevisionList_To_kudo_OperatorVersionRevisionList(in *OperatorVersionRevisionList, out *kudo.OperatorVersionRevisionList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *OperatorVersionRevision, o *kudo.OperatorVersionRevision) error {
		return Convert_v1beta1_OperatorVersionRevision_To_kudo_OperatorVersionRevision(i, o, s)
	})
	return err
}

// Convert_kudo_InstanceList_To_v1beta1_InstanceList stamps kind and apiVersion on every item.
func Convert_kudo_InstanceList_To_v1beta1_InstanceList(in *kudo.InstanceList, out *InstanceList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *kudo.Instance, o *Instance) error {
		o.TypeMeta = itemTypeMeta("Instance")
		return Convert_kudo_Instance_To_v1beta1_Instance(i, o, s)
	})
	return err
}

// Convert_v1beta1_InstanceList_To_kudo_InstanceList drops kind and apiVersion of the items.
func Convert_v1beta1_InstanceList_To_kudo_InstanceList(in *InstanceList, out *kudo.InstanceList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *Instance, o *kudo.Instance) error {
		return Convert_v1beta1_Instance_To_kudo_Instance(i, o, s)
	})
	return err
}

// Convert_kudo_PlanExecutionList_To_v1beta1_PlanExecutionList stamps kind and apiVersion on every item.
func Convert_kudo_PlanExecutionList_To_v1beta1_PlanExecutionList(in *kudo.PlanExecutionList, out *PlanExecutionList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *kudo.PlanExecution, o *PlanExecution) error {
		o.TypeMeta = itemTypeMeta("PlanExecution")
		return Convert_kudo_PlanExecution_To_v1beta1_PlanExecution(i, o, s)
	})
	return err
}

// Convert_v1beta1_PlanExecutionList_To_kudo_PlanExecutionList drops kind and apiVersion of the items.
func Convert_v1beta1_PlanExecutionList_To_kudo_PlanExecutionList(in *PlanExecutionList, out *kudo.PlanExecutionList, s conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = listItems(in.Items, func(i *PlanExecution, o *kudo.PlanExecution) error {
		return Convert_v1beta1_PlanExecution_To_kudo_PlanExecution(i, o, s)
	})
	return err
}
