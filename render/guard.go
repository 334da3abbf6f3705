// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"text/template"
)

// guarded returns the functions, each wrapped so that it takes and gives no value heavier than maxValue, and so that
// all together stay within the budget. That bounds memory, and it keeps a template from building a map that contains
// itself, which would end the process when it is printed: every list and map that is not a parameter comes out of a
// function.
//
// The printing functions of text/template are wrapped too.
func guarded(funcs template.FuncMap, b *budget) template.FuncMap {
	all := template.FuncMap{
		"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	}
	maps.Copy(all, funcs)
	for name, f := range all {
		all[name] = guard(f, growth[name], b)
	}
	return all
}

// guard wraps one function and keeps its type, by which the engine converts arguments. Before a call, grows says how
// many bytes the result may have beyond what the arguments weigh; nil stands for none worth a thought.
func guard(f any, grows func(args []reflect.Value) int, b *budget) any {
	fn := reflect.ValueOf(f)
	call := fn.Call
	if fn.Type().IsVariadic() {
		call = fn.CallSlice
	}
	return reflect.MakeFunc(fn.Type(), func(args []reflect.Value) []reflect.Value {
		// A panic of a function becomes an error of the template; the type of the function may have no other way.
		if b.late() {
			panic(errTime)
		}
		before := check(args)
		if grows != nil && grows(args) > maxValue {
			panic(errValue)
		}
		results := call(args)
		// Some functions change their arguments, so these are weighed again.
		after := check(append(slices.Clip(results), args...))
		// What is made may stay in a variable, so it counts even where it is but passed on.
		if b.bytes -= max(0, after-before); b.bytes < 0 {
			panic(errBytes)
		}
		return results
	}).Interface()
}

// check says how much the values weigh and panics if that is too much.
func check(values []reflect.Value) int {
	left := maxValue
	for _, v := range values {
		if !v.IsValid() || !v.CanInterface() {
			continue
		}
		if !weigh(v.Interface(), &left, 0) {
			panic(errValue)
		}
	}
	return maxValue - left
}
