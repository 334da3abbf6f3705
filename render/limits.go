// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// The limits on one template. Real packages stay far below them: their largest template renders to about 100 KiB
// and takes some milliseconds.
const (
	// maxOutput is how long a rendered template may be, in bytes. An object cannot be larger than about 1.5 MiB in
	// the API server, so that a template that makes more is mistaken or hostile.
	maxOutput = 3 << 20
	// maxValue is what a value that a function takes or gives may weigh: about its bytes in memory.
	maxValue = 16 << 20
	// maxBytes is what all values that the functions of a template make may weigh together, as variables may keep them.
	maxBytes = 256 << 20
	// maxActions is how many actions {{ }} a template may have. The engine needs about a kilobyte to parse each; real
	// templates have some hundreds.
	maxActions = 10_000
	// maxDepth is how deep lists and maps may be nested in a value.
	maxDepth = 1000
	// maxSteps is how many times a template may go through the body of a loop or call a template.
	maxSteps = 1 << 18
	// maxNesting is how deep conditions and loops may be nested in all templates that have called each other. Each
	// takes about a kilobyte of the stack, and a stack that is too large ends the process.
	maxNesting = 50_000
	// maxTime is how long a template may take. It is a backstop for templates that repeat something slow, such as
	// making private keys.
	maxTime = 30 * time.Second
)

var (
	errOutput  = fmt.Errorf("the rendered text is longer than %d MiB; make fewer or smaller objects per template", maxOutput>>20)
	errActions = fmt.Errorf("the template has more than %d actions {{ }}; split it", maxActions)
	errValue   = errors.New("the value is too large, or it contains itself")
	errBytes   = fmt.Errorf("the template makes values of more than %d MiB; make them smaller, or make them less often", maxBytes>>20)
	errSteps   = fmt.Errorf("the template does not end within %d steps; loops are too long, or templates call each other", maxSteps)
	errCalls   = errors.New("templates call each other too deep; check that the recursion ends")
	errTime    = fmt.Errorf("the template does not end within %s", maxTime)
)

// limitedWriter collects at most maxOutput bytes.
type limitedWriter struct{ strings.Builder }

// Write appends p or fails with errOutput.
func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.Len()+len(p) > maxOutput {
		return 0, errOutput
	}
	return w.Builder.Write(p)
}

// weigh takes the weight of value off the budget and says whether something is left. It ends also for a value that
// contains itself.
func weigh(value any, budget *int, depth int) bool {
	if depth > maxDepth || *budget < 0 {
		return false
	}
	switch v := value.(type) {
	case string:
		*budget -= len(v)
	case []byte:
		*budget -= len(v)
	case []int:
		*budget -= itemSize * len(v)
	case []string:
		for _, s := range v {
			*budget -= itemSize + len(s)
		}
	case map[string]string:
		for key, s := range v {
			*budget -= itemSize + len(key) + len(s)
		}
	case []any:
		for _, child := range v {
			*budget -= itemSize
			if !weigh(child, budget, depth+1) {
				return false
			}
		}
	case map[string]any:
		for key, child := range v {
			*budget -= itemSize + len(key)
			if !weigh(child, budget, depth+1) {
				return false
			}
		}
	case []map[string]any:
		for _, child := range v {
			*budget -= itemSize
			if !weigh(child, budget, depth+1) {
				return false
			}
		}
	case fmt.Stringer:
		// Times, and versions, which have no limit of their own.
		*budget -= len(v.String())
	default:
		// Certificates are structs of texts.
		if s := reflect.ValueOf(value); s.Kind() == reflect.Struct {
			for _, field := range s.Fields() {
				if field.Kind() == reflect.String {
					*budget -= field.Len()
				}
			}
		}
	}
	return *budget >= 0
}
