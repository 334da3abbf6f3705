// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// uninstall is the command that deletes an Instance. The operator stays.
type uninstall struct {
	*environment
	instance string
	wait     bool
	waitTime int64
}

func uninstallCommand(env *environment) *cobra.Command {
	u := &uninstall{environment: env}
	command := &cobra.Command{
		Use:   "uninstall --instance NAME",
		Short: "Delete an instance",
		Long: "Delete an instance and what its plans applied. The operator stays installed. If it has a plan \"cleanup\", that runs first, in the\n" +
			"place of what runs now, and the instance is gone when it has completed. If it fails, the instance stays; then start it again with\n" +
			"kubectl kudo plan trigger, or do without it by removing the finalizer " + v1beta1.CleanupFinalizer + ".",
		Example: "  kubectl kudo uninstall --instance kv --wait",
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return u.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringVar(&u.instance, "instance", "", "name of the instance (required)")
	flags.BoolVar(&u.wait, "wait", false, "wait until the instance is gone, or its cleanup has failed")
	flags.Int64Var(&u.waitTime, "wait-time", 300, "how long to wait, in seconds")
	requireFlag(command, "instance")
	return command
}

func (u *uninstall) run(ctx context.Context) error {
	c, err := u.connect()
	if err != nil {
		return err
	}
	instances := c.kudo.KudoV1beta1().Instances(c.namespace)
	instance, err := instances.Get(ctx, u.instance, metav1.GetOptions{})
	if err != nil {
		return err
	}
	// The uid keeps the command from deleting another Instance that got the name meanwhile.
	background := metav1.DeletePropagationBackground
	err = instances.Delete(ctx, u.instance, metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions(string(instance.UID))})
	if err != nil {
		return err
	}
	if u.wait {
		if err := u.waitUntilGone(ctx, c, instance.UID); err != nil {
			return err
		}
	}
	u.say("instance.kudo.dev/v1beta1/%s deleted", u.instance)
	if after, err := instances.Get(ctx, u.instance, metav1.GetOptions{}); err == nil && after.UID == instance.UID && slices.Contains(after.Finalizers, v1beta1.CleanupFinalizer) {
		if failure := cleanupFailure(after); failure != nil {
			return failure
		}
		u.say("its plan %s runs first; see: kubectl kudo plan status -n %s --instance %s --wait", v1beta1.CleanupPlanName, c.namespace, u.instance)
	}
	return nil
}

// waitUntilGone watches the Instance until it does not exist any more.
func (u *uninstall) waitUntilGone(ctx context.Context, c *cluster, uid types.UID) error {
	timeout := time.Duration(u.waitTime) * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	instances := c.kudo.KudoV1beta1().Instances(c.namespace)
	selector := fields.OneTermEqualSelector("metadata.name", u.instance).String()
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			return instances.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = selector
			return instances.Watch(ctx, options)
		},
	}
	is := func(object any) bool {
		instance, ok := object.(*v1beta1.Instance)
		return ok && instance.Name == u.instance && instance.UID == uid
	}
	gone := func(store cache.Store) (bool, error) {
		for _, object := range store.List() {
			if is(object) {
				return false, cleanupFailure(object)
			}
		}
		return true, nil
	}
	if _, err := lister.ListWithContextFunc(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return err
	}
	_, err := watchtools.UntilWithSync(ctx, cache.ToListWatcherWithWatchListSemantics(lister, c.kudo), &v1beta1.Instance{}, gone,
		func(event watch.Event) (bool, error) {
			if !is(event.Object) {
				return false, nil
			}
			if event.Type == watch.Deleted {
				return true, nil
			}
			return false, cleanupFailure(event.Object)
		})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("timeout waiting for instance %s/%s to be gone: it still exists after %s; see: kubectl kudo plan status --instance %s", c.namespace, u.instance, timeout, u.instance)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// cleanupFailure is the error of an Instance that stays because its cleanup plan has failed; nil if it has not.
func cleanupFailure(object any) error {
	instance, ok := object.(*v1beta1.Instance)
	if !ok || instance.DeletionTimestamp == nil {
		return nil
	}
	cleanup := instance.Status.PlanStatus[v1beta1.CleanupPlanName]
	if cleanup.Status != v1beta1.ExecutionFatalError {
		return nil
	}
	// A run that somebody has ended says so, and its steps do not.
	message := cleanup.Message
	for _, phase := range cleanup.Phases {
		for _, step := range phase.Steps {
			if message == "" && step.Status == v1beta1.ExecutionFatalError && step.Message != "" {
				message = fmt.Sprintf("step %s.%s: %s", phase.Name, step.Name, step.Message)
			}
		}
	}
	return fmt.Errorf("instance %s/%s is not deleted, because its cleanup plan failed: %s; correct the reason and run it again: kubectl kudo plan trigger -n %s --instance %s --name %s; or do without it by removing the finalizer %s",
		instance.Namespace, instance.Name, cmp.Or(message, "no reason was given"), instance.Namespace, instance.Name, v1beta1.CleanupPlanName, v1beta1.CleanupFinalizer)
}
