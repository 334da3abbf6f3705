// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package etcd

import (
	"slices"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// logger writes what etcd has to say at level warning and above into the log of the server, until it stops: then it complains of
// every listener that was closed.
func logger(stopping *atomic.Bool) *zap.Logger {
	return zap.New(&klogCore{LevelEnabler: zapcore.WarnLevel, stopping: stopping})
}

// klogCore passes messages of zap on to klog.
type klogCore struct {
	zapcore.LevelEnabler
	fields   []zapcore.Field
	stopping *atomic.Bool
}

// With adds fields.
func (c *klogCore) With(fields []zapcore.Field) zapcore.Core {
	return &klogCore{c.LevelEnabler, append(slices.Clip(c.fields), fields...), c.stopping}
}

// Check accepts a message if its level is enabled.
func (c *klogCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) && !c.stopping.Load() {
		return checked.AddCore(e, c)
	}
	return checked
}

// Write logs a message.
func (c *klogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	encoder := zapcore.NewMapObjectEncoder()
	for _, f := range append(slices.Clip(c.fields), fields...) {
		f.AddTo(encoder)
	}
	if e.Level >= zapcore.ErrorLevel {
		klog.ErrorS(nil, "etcd: "+e.Message, "details", encoder.Fields)
	} else {
		klog.InfoS("etcd: "+e.Message, "details", encoder.Fields)
	}
	return nil
}

// Sync does nothing: klog flushes by itself.
func (*klogCore) Sync() error { return nil }
