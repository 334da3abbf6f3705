// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // depth, latency and retries of the queue

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

var finishedRuns = metrics.NewCounterVec(&metrics.CounterOpts{
	Namespace: "kudo", Subsystem: "executor", Name: "plan_executions_finished_total", StabilityLevel: metrics.ALPHA,
	Help: "Plan executions that ended, by status (COMPLETE or FATAL_ERROR).",
}, []string{"status"})

var runSeconds = metrics.NewHistogramVec(&metrics.HistogramOpts{
	Namespace: "kudo", Subsystem: "executor", Name: "plan_execution_duration_seconds", StabilityLevel: metrics.ALPHA,
	Help:    "Time from the start of a plan execution to its end, by status.",
	Buckets: []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600},
}, []string{"status"})

func init() { legacyregistry.MustRegister(finishedRuns, runSeconds) }

func finished(pe *v1beta1.PlanExecution) {
	status := string(pe.Status.Status)
	finishedRuns.WithLabelValues(status).Inc()
	if pe.Status.StartTime != nil && pe.Status.CompletionTime != nil {
		runSeconds.WithLabelValues(status).Observe(pe.Status.CompletionTime.Sub(pe.Status.StartTime.Time).Seconds())
	}
}
