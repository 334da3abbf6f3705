// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/random/history"
)

// delete deletes the Instance. The answer is the Instance while it stays for its cleanup, else a Status.
func (c *client) delete(ctx context.Context, id int, at types.NamespacedName) {
	c.do(ctx, operation(id, history.Delete, at, v1beta1.CleanupPlanName), func(ctx context.Context) answer {
		obj, err := c.kudo.KudoV1beta1().RESTClient().Delete().Namespace(at.Namespace).Resource("instances").Name(at.Name).Body(&metav1.DeleteOptions{}).Do(ctx).Get()
		if err != nil {
			return refused(err)
		}
		if i, ok := obj.(*v1beta1.Instance); ok {
			return c.asked(i, v1beta1.TriggerCleanup)
		}
		return answer{}
	})
}

func (c *client) cancel(ctx context.Context, id int, pe *v1beta1.PlanExecution) history.Outcome {
	return c.do(ctx, onRun(id, history.Cancel, pe), func(ctx context.Context) answer {
		_, err := c.kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Cancel(ctx, pe.Name, &v1beta1.PlanExecutionCancel{
			TypeMeta: metav1.TypeMeta{APIVersion: "kudo.dev/v1beta1", Kind: "PlanExecutionCancel"}, Message: "at random"}, metav1.CreateOptions{})
		return refused(err)
	})
}

func (c *client) suspend(ctx context.Context, id int, pe *v1beta1.PlanExecution, suspend bool) history.Outcome {
	kind := history.Resume
	if suspend {
		kind = history.Suspend
	}
	patch := mustJSON(map[string]any{"spec": map[string]any{"suspend": suspend}})
	return c.do(ctx, onRun(id, kind, pe), func(ctx context.Context) answer {
		_, err := c.kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Patch(ctx, pe.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return refused(err)
	})
}

// forget deletes a run that has ended.
func (c *client) forget(ctx context.Context, id int, pe *v1beta1.PlanExecution) {
	c.do(ctx, onRun(id, history.Forget, pe), func(ctx context.Context) answer {
		return refused(c.kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Delete(ctx, pe.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pe.UID}}))
	})
}

// act does something, rather what makes sense as things are.
func (c *client) act(ctx context.Context, id int) {
	at := c.stage.places[c.r.IntN(len(c.stage.places))]
	i, run := c.stage.view.instance(at)
	dice := c.r.IntN(100)
	switch {
	case i == nil:
		if dice < 85 {
			c.create(ctx, id, at)
			return
		}
	case i.DeletionTimestamp != nil && run == nil:
		if dice < 40 {
			c.trigger(ctx, id, at, v1beta1.CleanupPlanName, map[string]string{cleanupParameter: []string{"ok", "ok", "fail"}[c.r.IntN(3)]})
			return
		}
	case run != nil && run.Spec.Suspend && dice < 40:
		c.suspend(ctx, id, run, false)
		return
	case run != nil && run.Spec.PlanName == waits && dice < 30:
		c.cancel(ctx, id, run)
		return
	}
	c.anything(ctx, id, at)
}

// anything does something, whether it makes sense or not.
func (c *client) anything(ctx context.Context, id int, at types.NamespacedName) {
	switch n := c.r.IntN(100); {
	case n < 2:
		c.create(ctx, id, at)
	case n < 22:
		c.change(ctx, id, at)
	case n < 50:
		c.trigger(ctx, id, at, c.plan(), nil)
	case n < 58:
		c.patch(ctx, id, at, c.plan())
	case n < 64:
		c.upgrade(ctx, id, at)
	case n < 69:
		c.delete(ctx, id, at)
	default:
		c.onRun(ctx, id, at, n)
	}
}

// onRun does something with a run, the newest as often as any other. An Instance without runs gets one.
func (c *client) onRun(ctx context.Context, id int, at types.NamespacedName, n int) {
	runs := c.stage.view.runsOf(at)
	if len(runs) == 0 {
		c.trigger(ctx, id, at, c.plan(), nil)
		return
	}
	pe := runs[len(runs)-1]
	if c.r.IntN(2) == 0 {
		pe = runs[c.r.IntN(len(runs))]
	}
	switch {
	case n < 79:
		c.cancel(ctx, id, pe)
	case n < 84:
		c.suspend(ctx, id, pe, true)
	case n < 89 || !pe.Status.Status.IsTerminal():
		c.suspend(ctx, id, pe, false)
	default:
		c.forget(ctx, id, pe)
	}
}

// plan is any plan, the quick ones more often, and sometimes one that cannot be started or does not exist.
func (c *client) plan() string {
	switch n := c.r.IntN(100); {
	case n < 30:
		return quick
	case n < 55:
		return long
	case n < 70:
		return backup
	case n < 80:
		return v1beta1.DeployPlanName
	case n < 90:
		return fails
	case n < 93:
		return waits
	case n < 97:
		return v1beta1.CleanupPlanName
	}
	return "none"
}

// tidy brings to an end what would go on for ever, and returns how much there is left that is not at rest. done remembers what was
// seen to, so that it is done once for each state.
func (c *client) tidy(ctx context.Context, done map[string]bool) int {
	left := 0
	once := func(obj metav1.Object, act func() history.Outcome) {
		key := string(obj.GetUID()) + "/" + obj.GetResourceVersion()
		if done[key] {
			return
		}
		if outcome := act(); outcome != history.Unknown {
			done[key] = true
		}
	}
	for _, at := range c.stage.places {
		i, _ := c.stage.view.instance(at)
		if i != nil && (i.Spec.PlanExecution.UID != "" || i.DeletionTimestamp != nil) {
			left++
			if i.Spec.PlanExecution.UID == "" && i.Status.PlanStatus[v1beta1.CleanupPlanName].Status == v1beta1.ExecutionFatalError {
				once(i, func() history.Outcome {
					return c.trigger(ctx, c.stage.extra(), at, v1beta1.CleanupPlanName, map[string]string{cleanupParameter: "ok"})
				})
			}
		}
		for _, pe := range c.stage.view.runsOf(at) {
			if pe.Status.Status.IsTerminal() {
				continue
			}
			left++
			switch {
			case pe.Spec.PlanName == waits:
				once(pe, func() history.Outcome { return c.cancel(ctx, c.stage.extra(), pe) })
			case pe.Spec.Suspend:
				once(pe, func() history.Outcome { return c.suspend(ctx, c.stage.extra(), pe, false) })
			}
		}
	}
	return left
}

// mustJSON is for values that have a JSON form.
func mustJSON(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}
