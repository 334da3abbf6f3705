// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
)

// growth says, for the functions that can need far more memory than their arguments, how many bytes that can get.
var growth = map[string]func(args []reflect.Value) int{
	"repeat":  func(a []reflect.Value) int { return product(a[0].Int(), a[1].Len()) },
	"indent":  func(a []reflect.Value) int { return product(a[0].Int(), strings.Count(a[1].String(), "\n")+1) },
	"nindent": func(a []reflect.Value) int { return product(a[0].Int(), strings.Count(a[1].String(), "\n")+1) },
	"replace": func(a []reflect.Value) int {
		return product(int64(strings.Count(a[2].String(), a[0].String())), a[1].Len())
	},
	"wrapWith": func(a []reflect.Value) int { return product(int64(a[2].Len()), a[1].Len()) },
	"join": func(a []reflect.Value) int {
		if list := reflect.ValueOf(a[1].Interface()); list.Kind() == reflect.Slice {
			return product(int64(list.Len()), a[0].Len())
		}
		return 0
	},

	"randAlpha": random, "randAlphaNum": random, "randAscii": random, "randNumeric": random,

	"until": func(a []reflect.Value) int {
		return product(max(a[0].Int(), -a[0].Int()), itemSize)
	},
	"untilStep": func(a []reflect.Value) int {
		start, stop, step := a[0].Int(), a[1].Int(), a[2].Int()
		// Near the ends of the integers Sprig counts past them and begins anew.
		const far = 1 << 60
		switch {
		case min(start, stop, step) < -far || max(start, stop, step) > far:
			return maxValue + 1
		case step == 0:
			return 0
		}
		return product(max(0, (stop-start)/step), itemSize)
	},

	"split":     func(a []reflect.Value) int { return parts(a[1].String(), a[0].String(), math.MaxInt, entrySize) },
	"splitList": func(a []reflect.Value) int { return parts(a[1].String(), a[0].String(), math.MaxInt, itemSize) },
	"splitn":    func(a []reflect.Value) int { return parts(a[2].String(), a[0].String(), int(a[1].Int()), entrySize) },

	"regexMatch":   func(a []reflect.Value) int { return program(a[0].String()) },
	"regexFind":    func(a []reflect.Value) int { return program(a[0].String()) },
	"regexFindAll": matches,
	"regexSplit":   matches,
	// A text inserts what it names of a match, but the matches do not overlap.
	"regexReplaceAll":        replaced,
	"regexReplaceAllLiteral": replaced,

	// The conditions of a constraint are small in text and large in memory.
	"semverCompare": func(a []reflect.Value) int { return product(int64(a[0].Len()), entrySize) },
	// These compare each with each; what they need is time, which nobody can take back from them.
	"uniq":    func(a []reflect.Value) int { return product(length(a[0]), int(length(a[0]))) },
	"without": func(a []reflect.Value) int { return product(length(a[0]), a[1].Len()) },

	"printf": printed,
	"quote":  texts, "js": texts, "html": texts, "urlquery": texts, "urlParse": texts, "urlJoin": texts,
	"toJson": texts, "toPrettyJson": texts, "toYaml": texts,
	"date": layout, "dateInZone": layout, "date_in_zone": layout,
}

const (
	// itemSize is about what an item of a list takes in memory besides its content.
	itemSize = 16
	// entrySize is about what something takes that has a place in a map or an object of its own.
	entrySize = 128
)

// errNegative is what a count below zero gets where Go would panic with less helpful words.
var errNegative = errors.New("the count is negative")

// product multiplies without overflow; what is more than maxValue may come out as any number that is.
func product(count int64, size int) int {
	switch {
	case count < 0:
		panic(errNegative)
	case size == 0:
		return 0
	case count > int64(maxValue/size):
		return maxValue + 1
	default:
		return int(count) * size
	}
}

// random is for the functions that make random characters: each is slow, and comes from a large number.
func random(a []reflect.Value) int { return product(a[0].Int(), itemSize) }

// layout is for the functions that put a time where a text has digits and names.
func layout(a []reflect.Value) int { return product(int64(a[0].Len()), 4) }

// parts is for the functions that split a text into at most limit parts; a limit below zero is none.
func parts(text, separator string, limit, size int) int {
	count := strings.Count(text, separator) + 1
	if limit >= 0 {
		count = min(count, limit)
	}
	return product(int64(count), size)
}

// matches is for the functions that make a list of what a regular expression finds.
func matches(a []reflect.Value) int {
	return max(program(a[0].String()), parts(a[1].String(), "", int(a[2].Int()), itemSize))
}

// replaced is for the functions that replace what a regular expression finds.
func replaced(a []reflect.Value) int {
	return max(program(a[0].String()), product(int64(a[1].Len())+1, a[2].Len()))
}

var repetition = regexp.MustCompile(`\{(\d+)(?:,(\d*))?\}`)

// program is about the size of a compiled regular expression, in which what has {1000} behind it stands 1000 times.
func program(expression string) int {
	times := 1
	for _, m := range repetition.FindAllStringSubmatch(expression, maxValue) {
		times += max(capped(m[1]), capped(m[2]))
	}
	return product(int64(product(int64(len(expression)), entrySize)), times)
}

// length is the length of a list that is given as any.
func length(v reflect.Value) int64 {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice {
		return int64(v.Len())
	}
	return 0
}

// texts is for the functions that write values down, with escapes, and with line breaks before all that is nested.
func texts(a []reflect.Value) int {
	size := 0
	for _, v := range a {
		size += written(v, 0, 0)
	}
	return size
}

// written is how long a value can get as text. Each word gets padding characters besides its own.
func written(v reflect.Value, padding, indent int) int {
	// The longest escapes have six characters for one, as \u003c; the longest numbers are binary or of floating point.
	const escape, number, float = 6, 72, 340
	if v.IsValid() && v.CanInterface() {
		if text, ok := reflect.TypeAssert[fmt.Stringer](v); ok {
			return padding + indent + escape*len(text.String())
		}
	}
	size := padding + indent + itemSize
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return written(v.Elem(), padding, indent)
	case reflect.String:
		return size + escape*v.Len() + indent*strings.Count(v.String(), "\n")
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			size += written(v.Index(i), padding, indent+2)
		}
		return size + indent
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			size += written(entry.Key(), padding, indent+2) + written(entry.Value(), padding, indent+2)
		}
		return size + indent
	case reflect.Struct:
		for _, field := range v.Fields() {
			size += written(field, padding, indent+2)
		}
		return size + indent
	case reflect.Float32, reflect.Float64:
		return size + float
	default:
		return size + number
	}
}

// maxPadding is the largest width or precision that package fmt obeys.
const maxPadding = 1_000_000

// verb matches how a verb begins. Where fmt would see less of it, the estimate is higher than need be.
var verb = regexp.MustCompile(`%[-+# 0]*(\[\d*\])?(\*|\d*)(?:\.(\[\d*\])?(\*|\d*))?(\[\d*\])?`)

// printed is for printf. Which argument a verb takes does not matter: one that is not named by its number is used
// once, and those that are may all be the largest.
func printed(a []reflect.Value) int {
	format, args := a[0].String(), a[1]
	star := 0
	for i := range args.Len() {
		if n := args.Index(i).Elem(); n.CanInt() {
			star = max(star, int(min(max(n.Int(), -n.Int()), maxPadding)))
		} else if n.CanUint() {
			star = max(star, int(min(n.Uint(), maxPadding)))
		}
	}
	padding, verbs, numbered := 0, 0, false
	for _, m := range verb.FindAllStringSubmatch(format, maxValue) {
		verbs++
		width := 0
		for _, digits := range []string{m[2], m[4]} {
			if digits == "*" {
				width += star
			} else {
				width += capped(digits)
			}
		}
		padding = max(padding, width)
		numbered = numbered || m[1] != "" || m[3] != "" || m[5] != ""
	}
	all, largest := 0, 0
	for i := range args.Len() {
		size := written(args.Index(i), padding, 0)
		all, largest = all+size, max(largest, size)
	}
	if numbered {
		all = product(int64(verbs), largest)
	}
	// What fmt says about a wrong verb is short, but verbs are shorter.
	return max(all, product(int64(verbs), itemSize))
}

// capped reads digits that a pattern has matched; more than maxPadding is maxPadding.
func capped(digits string) int {
	if len(digits) > 7 {
		digits = "1000000"
	}
	return min(number(digits), maxPadding)
}
