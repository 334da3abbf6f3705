// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kudo.dev/kudo/bundle"
)

// Extended are the names of checks that are made on request. They look at what people read, and give warnings only.
func Extended() []string {
	names := []string{"all"}
	for _, rule := range extended {
		names = append(names, rule.name)
	}
	return names
}

var extended = []struct {
	name string
	rule func(*checker)
}{
	{"display", eachParameter(func(p *bundle.Parameter) []string { return displayName(p.DisplayName) })},
	{"hint", eachParameter(func(p *bundle.Parameter) []string { return sentence("hint", p.Hint, ".") })},
	{"desc", eachParameter(func(p *bundle.Parameter) []string { return description(p.Description) })},
	{"type", eachParameter(func(p *bundle.Parameter) []string {
		if p.Type == "" {
			return []string{"has no type"}
		}
		return nil
	})},
	{"hasgroup", eachParameter(func(p *bundle.Parameter) []string {
		if p.Group == "" {
			return []string{"has no group"}
		}
		return nil
	})},
	{"groups", func(c *checker) {
		for i, group := range c.p.Params.Groups {
			for _, fault := range append(displayName(group.DisplayName), description(group.Description)...) {
				c.params(Warning, at("groups", i), "group %q %s", group.Name, fault)
			}
		}
	}},
}

// extendedRules returns the rules of the names.
func extendedRules(names []string) ([]func(*checker), error) {
	for _, name := range names {
		if !slices.Contains(Extended(), name) {
			return nil, fmt.Errorf("there is no check %q of parameters; there are %s", name, strings.Join(Extended(), ", "))
		}
	}
	var rules []func(*checker)
	for _, rule := range extended {
		if slices.Contains(names, rule.name) || slices.Contains(names, "all") {
			rules = append(rules, rule.rule)
		}
	}
	return rules, nil
}

// eachParameter makes a rule of a check of one parameter.
func eachParameter(check func(*bundle.Parameter) []string) func(*checker) {
	return func(c *checker) {
		for i := range c.p.Params.Parameters {
			p := &c.p.Params.Parameters[i]
			for _, fault := range check(p) {
				c.params(Warning, at("parameters", i), "parameter %q %s", p.Name, fault)
			}
		}
	}
}

func displayName(text string) (faults []string) {
	if text == "" {
		return []string{"has no displayName"}
	}
	if strings.HasSuffix(text, ":") {
		faults = append(faults, "has a displayName that ends with ':'")
	}
	if !capitalised(text) {
		faults = append(faults, "has a displayName that does not begin with a capital letter")
	}
	return faults
}

func description(text string) []string {
	faults := sentence("description", text, ".!?)")
	if text != "" && !capitalised(text) {
		faults = append(faults, "has a description that does not begin with a capital letter")
	}
	return faults
}

// sentence checks that a text is there and ends with one of some characters.
func sentence(what, text, ends string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return []string{"has no " + what}
	}
	if !strings.ContainsRune(ends, rune(text[len(text)-1])) {
		return []string{fmt.Sprintf("has a %s that does not end with one of %s", what, ends)}
	}
	return nil
}

func capitalised(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return !unicode.IsLower(first)
}
