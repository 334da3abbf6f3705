// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"maps"
	"reflect"
	"slices"
	"text/template"
	"time"
)

// varying are the functions that may give another result for the same arguments, each with the question whether a call does. They
// are random, ask the clock or a name server, or work in the time zone of the process, which may be another one after a restart.
var varying = map[string]func(args []reflect.Value) bool{
	"randAlpha": always, "randAlphaNum": always, "randAscii": always, "randNumeric": always, "shuffle": always, "uuidv4": always,
	"genPrivateKey": always, "genCA": always, "genSelfSignedCert": always, "genSignedCert": always, "encryptAES": always,
	"now": always, "ago": always, "getHostByName": always,
	"date": always, "htmlDate": always, "toDate": always,
	"dateInZone":     func(a []reflect.Value) bool { return unknownTime(a[1]) },
	"date_in_zone":   func(a []reflect.Value) bool { return unknownTime(a[1]) },
	"htmlDateInZone": func(a []reflect.Value) bool { return unknownTime(a[0]) },
}

func always([]reflect.Value) bool { return true }

// unknownTime tells whether Sprig takes the present time in place of a value.
func unknownTime(v reflect.Value) bool {
	switch v.Interface().(type) {
	case time.Time, *time.Time, int64, int, int32:
		return false
	}
	return true
}

// observed returns the functions so that a call whose result may differ the next time sets varies.
func observed(funcs template.FuncMap, varies *bool) template.FuncMap {
	out := maps.Clone(funcs)
	for name, differs := range varying {
		fn := reflect.ValueOf(funcs[name])
		out[name] = reflect.MakeFunc(fn.Type(), func(args []reflect.Value) []reflect.Value {
			if differs(args) {
				*varies = true
			}
			return fn.Call(args) // none of them is variadic
		}).Interface()
	}
	return out
}

// sortedKeys is the template function keys. Sprig's gives the keys of a map in an order that changes from call to call.
func sortedKeys(dicts ...map[string]any) []string {
	out := []string{}
	for _, dict := range dicts {
		out = append(out, slices.Sorted(maps.Keys(dict))...)
	}
	return out
}

// sortedValues is the template function values, in the order of the keys, for the same reason.
func sortedValues(dict map[string]any) []any {
	out := make([]any, 0, len(dict))
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		out = append(out, dict[key])
	}
	return out
}
