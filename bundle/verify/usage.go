// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"strings"
	"text/template/parse"
)

// use is what one template uses. Where something is used twice, the first line counts.
type use struct {
	// params, pipes and variables are names and the lines where they are used: .Params.x, .Pipes.x and other .x.
	params, pipes, variables map[string]int
	// allParams says that .Params is used as a whole, so that every parameter may be.
	allParams bool
}

// templateUses looks into all templates. Those that do not parse are left out: rendering says why.
func templateUses(templates map[string]string) map[string]*use {
	uses := map[string]*use{}
	for name, text := range templates {
		tree := parse.New(name)
		tree.Mode = parse.SkipFuncCheck
		trees := map[string]*parse.Tree{}
		if strings.Count(text, "{{") > maxActions {
			continue
		}
		if _, err := tree.Parse(text, "", "", trees); err != nil {
			continue
		}
		s := scan{
			text: text, trees: trees, called: map[call]bool{},
			use: &use{params: map[string]int{}, pipes: map[string]int{}, variables: map[string]int{}},
		}
		if main := trees[name]; main != nil && main.Root != nil {
			s.list(main.Root, scope{dot: root, dollar: root})
		}
		uses[name] = s.use
	}
	return uses
}

// maxActions is how many actions a template may have to be looked into; rendering refuses it for its own reasons.
const maxActions = 20_000

// value is what the scan knows of a value.
type value int

const (
	// unknown may be anything, also a part of the parameters.
	unknown value = iota
	// root are all variables.
	root
	// params are .Params.
	params
)

// scope is what the dot and the dollar stand for.
type scope struct{ dot, dollar value }

// call is the call of a template that a define has made, with what it gets.
type call struct {
	name string
	with value
}

// scan walks one template.
type scan struct {
	text   string
	trees  map[string]*parse.Tree
	called map[call]bool
	use    *use
}

func (s *scan) list(list *parse.ListNode, in scope) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			s.pipe(n.Pipe, in)
		case *parse.IfNode:
			s.pipe(n.Pipe, in)
			s.list(n.List, in)
			s.list(n.ElseList, in)
		case *parse.WithNode:
			inner := in
			inner.dot = s.pipe(n.Pipe, in)
			s.list(n.List, inner)
			s.list(n.ElseList, in)
		case *parse.RangeNode:
			s.pipe(n.Pipe, in)
			inner := in
			inner.dot = unknown
			s.list(n.List, inner)
			s.list(n.ElseList, in)
		case *parse.TemplateNode:
			with := unknown
			if n.Pipe != nil {
				with = s.pipe(n.Pipe, in)
			}
			to := call{n.Name, with}
			if tree := s.trees[n.Name]; tree != nil && tree.Root != nil && !s.called[to] {
				s.called[to] = true
				s.list(tree.Root, scope{dot: with, dollar: with})
			}
		}
	}
}

// pipe walks a pipeline and says what it gives, if it is one value that is passed on as it is.
func (s *scan) pipe(pipe *parse.PipeNode, in scope) value {
	if pipe == nil {
		return unknown
	}
	if len(pipe.Decl) == 0 && len(pipe.Cmds) == 1 && len(pipe.Cmds[0].Args) == 1 {
		return s.passed(pipe.Cmds[0].Args[0], in)
	}
	for _, command := range pipe.Cmds {
		if s.asksByName(command, in) {
			continue
		}
		for _, arg := range command.Args {
			s.whole(s.passed(arg, in))
		}
	}
	return unknown
}

// asksByName sees {{ index .Params "x" }} and {{ hasKey .Params "x" }}, which use one parameter and are no error if it is
// not defined.
func (s *scan) asksByName(command *parse.CommandNode, in scope) bool {
	if len(command.Args) < 3 {
		return false
	}
	function, ok := command.Args[0].(*parse.IdentifierNode)
	if !ok || function.Ident != "index" && function.Ident != "hasKey" {
		return false
	}
	name, ok := command.Args[2].(*parse.StringNode)
	if !ok || s.passed(command.Args[1], in) != params {
		return false
	}
	if _, known := s.use.params[name.Text]; !known {
		// A line of 0 says that the name may be that of nothing.
		s.use.params[name.Text] = 0
	}
	for _, arg := range command.Args[3:] {
		s.whole(s.passed(arg, in))
	}
	return true
}

// whole records that a value goes somewhere as a whole.
func (s *scan) whole(v value) {
	if v == params || v == root {
		s.use.allParams = true
	}
}

// passed walks an operand and says what it gives.
func (s *scan) passed(node parse.Node, in scope) value {
	switch n := node.(type) {
	case *parse.DotNode:
		return in.dot
	case *parse.FieldNode:
		return s.field(in.dot, n.Ident, n.Pos)
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			return s.field(in.dollar, n.Ident[1:], n.Pos)
		}
	case *parse.PipeNode:
		return s.pipe(n, in)
	case *parse.ChainNode:
		return s.field(s.passed(n.Node, in), n.Field, n.Pos)
	}
	return unknown
}

// field records the use of the fields of a value, and says what they give.
func (s *scan) field(of value, path []string, pos parse.Pos) value {
	if len(path) == 0 || of == unknown {
		return of
	}
	record := func(names map[string]int, name string) {
		if names[name] == 0 {
			names[name] = 1 + strings.Count(s.text[:min(int(pos), len(s.text))], "\n")
		}
	}
	if of == params {
		record(s.use.params, path[0])
		return unknown
	}
	switch path[0] {
	case "Params":
		if len(path) == 1 {
			return params
		}
		record(s.use.params, path[1])
	case "Pipes":
		if len(path) > 1 {
			record(s.use.pipes, path[1])
		}
	default:
		record(s.use.variables, path[0])
	}
	return unknown
}
