// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// allocated says how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Templates that ask for much memory are refused before they get it.
func TestTemplateIsRefusedBeforeItAllocates(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"printf, width by number", `{{ printf (repeat 300 "%[2]*[1]d") 1 1000000 }}`},
		{"printf, width", `{{ printf "%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d" 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 1000000 1 }}`},
		{"printf, negative width", `{{ printf (repeat 300 "%[2]*[1]d") 1 -1000000 }}`},
		{"printf, width in digits", `{{ printf (repeat 300 "%1000000[1]d") 1 }}{{ printf (repeat 300 "%[1]1000000d") 1 }}{{ printf "%-01000000d" (until 1000) }}`},
		{"printf, precision", `{{ printf (repeat 300 "%.[2]*[1]d") 1 1000000 }}`},
		{"printf, precision in digits", `{{ printf "%.1000000d" (until 1000) }}`},
		{"printf, width of each item", `{{ printf "%1000000d" (until 1000) }}`},
		{"printf, width of each value", `{{ printf "%1000000v" (dict "a" (list 1 2 3 4 5 6) "b" (list 1 2 3 4 5 6) "c" (list 1 2 3 4 5 6)) }}`},
		{"printf, argument many times", `{{ printf (repeat 1000 "%[1]s") (repeat 1000000 "x") }}`},
		{"split", `{{ split "" (repeat 2000000 "a") }}`},
		{"splitList", `{{ splitList "" (repeat 4000000 "a") }}`},
		{"splitn", `{{ splitn "" 2000000 (repeat 2000000 "a") }}`},
		{"regexFindAll", `{{ regexFindAll "a" (repeat 4000000 "a") -1 }}`},
		{"regexSplit", `{{ regexSplit "a" (repeat 4000000 "a") -1 }}`},
		{"regular expression", `{{ regexMatch (repeat 4000000 "ab|") "a" }}`},
		{"regular expression of many", `{{ regexMatch (repeat 300 "a{1000}") "a" }}`},
		{"regexReplaceAll", `{{ regexReplaceAll ".*" (repeat 10000 "x") (repeat 10000 "$0") }}`},
		{"replace of nothing", `{{ replace "" (repeat 10000 "x") (repeat 10000 "x") }}`},
		{"toPrettyJson", `{{ $l := until 12000 }}{{ range until 900 }}{{ $l = list $l }}{{ end }}{{ toPrettyJson $l }}`},
		{"toYaml", `{{ $l := list (repeat 20000 "a\n") }}{{ range until 900 }}{{ $l = dict "a" $l }}{{ end }}{{ toYaml $l }}`},
		{"quote", `{{ quote (repeat 4000000 "\x00") }}`},
		{"js", `{{ js (repeat 4000000 "<") }}`},
		{"html", `{{ html (repeat 4000000 "<") }}`},
		{"urlquery", `{{ urlquery (repeat 4000000 "<") }}`},
		{"date", `{{ date (repeat 5000000 "2") now }}`},
		{"semverCompare", `{{ semverCompare (repeat 1000000 ">1||") "1.2.3" }}`},
		{"semver", `{{ $v := semver (printf "1.0.0-%s" (repeat 2000000 "x")) }}{{ print $v $v $v $v $v $v $v $v $v }}`},
		{"keys", `{{ $d := dict (repeat 2000000 "x") 1 }}{{ keys $d $d $d $d $d $d $d $d $d $d }}`},
		{"untilStep past the integers", `{{ untilStep -9223372036854775807 9223372036854775807 1 }}`},
		{"untilStep at the last integer", `{{ untilStep 9223372036854775800 9223372036854775806 4 }}`},
		{"uniq", `{{ uniq (until 100000) }}`},
		{"random", `{{ randAscii 2000000 }}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			bytes := allocated(func() { _, err = Template("bomb.yaml", test.text, sample) })
			if err == nil || !strings.Contains(err.Error(), errValue.Error()) {
				t.Errorf("got %v", err)
			}
			if bytes > 64<<20 && !raceDetector {
				t.Errorf("it allocated %d MiB", bytes>>20)
			}
		})
	}
}

// Methods are called by the engine itself, so that their results are looked at only when they exist.
func TestTemplateMethods(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"methods", `{{ $d := toDate "2006-01-02" "2022-02-22" }}{{ $x := "2" }}{{ range until 40 }}{{ $x = $d.Format $x }}{{ end }}`},
		{"methods in a pipeline", `{{ $d := toDate "2006-01-02" "2022-02-22" }}{{ "2" | ` + strings.Repeat(`$d.Format | `, 40) + `len }}`},
		{"methods in parentheses", `{{ $d := toDate "2006-01-02" "2022-02-22" }}{{ if (len ` + strings.Repeat(`(($d).Format `, 40) + `"2"` + strings.Repeat(`)`, 40) + `) }}{{ end }}`},
	} {
		var err error
		bytes := allocated(func() { _, err = Template("bomb.yaml", test.text, sample) })
		if err == nil || !strings.Contains(err.Error(), errValue.Error()) {
			t.Errorf("%s: got %v", test.name, err)
		}
		if bytes > 256<<20 {
			t.Errorf("%s: it allocated %d MiB", test.name, bytes>>20)
		}
	}
}

// A stack that is too large would end the process.
func TestTemplateRecursion(t *testing.T) {
	text := `{{ define "x" }}` + strings.Repeat(`{{ if true }}`, 60) + `{{ template "x" }}` + strings.Repeat(`{{ end }}`, 60) + `{{ end }}{{ template "x" }}`
	if _, err := Template("bomb.yaml", text, sample); err == nil || !strings.Contains(err.Error(), errCalls.Error()) {
		t.Errorf("got %v", err)
	}
	// Calls that have ended do not count, and neither does how a loop ends.
	text = `{{ define "x" }}{{ range until 3 }}{{ if . }}{{ break }}{{ end }}{{ end }}{{ end }}{{ range until 100000 }}{{ template "x" }}{{ if eq . 60000 }}{{ break }}{{ end }}{{ end }}ok`
	if got, err := Template("loop.yaml", text, sample); err != nil || got != "ok" {
		t.Errorf("got %q, %v", got, err)
	}
}

// What one value may not weigh, many may not weigh together.
func TestTemplateWithManyLargeValues(t *testing.T) {
	for name, text := range map[string]string{
		"variables": strings.Repeat(`{{ $v := repeat 16000000 "x" }}`, 1000),
		"recursion": `{{ define "x" }}{{ $v := repeat 16000000 "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`,
	} {
		var err error
		bytes := allocated(func() { _, err = Template("bomb.yaml", text, sample) })
		if err == nil || !strings.Contains(err.Error(), errBytes.Error()) {
			t.Errorf("%s: got %v", name, err)
		}
		if bytes > 2*maxBytes {
			t.Errorf("%s: it allocated %d MiB", name, bytes>>20)
		}
	}
}

// Estimates do not refuse what templates do.
func TestTemplateWithinTheLimits(t *testing.T) {
	text := `{{ $s := repeat 20000 "some text\n" }}{{ $l := splitList "\n" $s }}{{ $d := split "," (join "," (until 5000)) }}` +
		`{{ len (printf "%-20s|%5.2f|%[1]s|%*d" $s 1.5 9 3) }} {{ len (quote $s) }} {{ len (toYaml (dict "a" (list $s $l))) }} {{ len (toPrettyJson $d) }} ` +
		`{{ len (regexReplaceAll "[a-z]{1,63}(\\.[a-z]{1,63})*" $s "x") }} {{ len (uniq (until 3000)) }} {{ range until 1000 }}{{ $_ := set $.Params (toString .) . }}{{ end }}`
	if _, err := Template("large.yaml", text, sample); err != nil {
		t.Error(err)
	}
	text = `{{ $d := toDate "2006-01-02" "2022-02-22" }}{{ $d.Format "2006" | len }} {{ "01" | $d.Format }} {{ if $d.Equal $d }}{{ ($d.AddDate 0 0 1).Day }}{{ end }}`
	if got, err := Template("methods.yaml", text, sample); err != nil || got != "4 02 23" {
		t.Errorf("got %q, %v", got, err)
	}
}

// The clock is looked at before each call, not only in loops.
func TestTemplateTime(t *testing.T) {
	const limit = 200 * time.Millisecond
	for name, text := range map[string]string{
		"calls in a row": strings.Repeat(`{{ $_ := derivePassword 1 "long" "a" "b" "c" }}`, 2000),
		"loop":           `{{ range until 200000 }}{{ range until 100 }}{{ end }}{{ end }}`,
	} {
		b := newBudget(limit)
		b.steps = 1 << 40
		_, err := execute("slow.yaml", text, sample, b, new(bool))
		var known *Error
		if !errors.As(err, &known) || known.Message != errTime.Error() {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
