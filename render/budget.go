// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"slices"
	"text/template"
	"text/template/parse"
	"time"
)

// These functions are made known after the author's text was parsed, so that a template that names them does not
// parse: stepName counts a step, enterName and leaveName count the calls of templates that have not ended, methodName takes and gives what a method has returned.
const (
	stepName   = "__step"
	enterName  = "__enter"
	leaveName  = "__leave"
	methodName = "__method"
)

// budget is what one execution of a template may still use.
type budget struct {
	// steps are bodies of loops and calls of templates, bytes the weight of what functions make.
	steps, bytes int
	// calls are those of templates that may still begin before one ends.
	calls int
	end   time.Time
}

// newBudget returns the budget of a template that begins now.
func newBudget(limit time.Duration) *budget {
	return &budget{steps: maxSteps, bytes: maxBytes, end: time.Now().Add(limit)}
}

// step takes one step.
func (b *budget) step() (string, error) {
	if b.steps--; b.steps < 0 {
		return "", errSteps
	}
	// Loops may do without functions that are guarded, which look at the clock each time.
	if b.steps%256 == 0 && b.late() {
		return "", errTime
	}
	return "", nil
}

// enter begins the call of a template.
func (b *budget) enter() (string, error) {
	if b.calls--; b.calls < 0 {
		return "", errCalls
	}
	return b.step()
}

// leave ends the call of a template.
func (b *budget) leave() string {
	b.calls++
	return ""
}

func (b *budget) late() bool { return time.Now().After(b.end) }

// watch makes the template count its steps and fail when they are too many. The engine cannot be interrupted from
// outside, and loops within loops need neither output nor memory to keep it busy for years.
//
// It also puts what methods return through a guard. Templates get at methods by functions such as now, and Format can
// double a text with each call.
func (b *budget) watch(t *template.Template) error {
	funcs := template.FuncMap{
		stepName: b.step, enterName: b.enter, leaveName: b.leave,
		methodName: guard(func(v any) any { return v }, nil, b),
	}
	trees, err := parse.Parse("calls", "{{"+stepName+"}}{{"+enterName+"}}{{"+leaveName+"}}", "", "", funcs)
	if err != nil {
		return err
	}
	calls := trees["calls"].Root.Nodes
	step, enter, leave := calls[0], calls[1], calls[2]
	t.Funcs(funcs)
	deepest := 1
	for _, defined := range t.Templates() {
		if defined.Tree == nil {
			continue
		}
		deepest = max(deepest, nesting(defined.Root))
		walk(defined.Root, func(node parse.Node) {
			switch n := node.(type) {
			case *parse.RangeNode:
				n.List.Nodes = slices.Insert(n.List.Nodes, 0, step.Copy())
			case *parse.PipeNode:
				guardMethods(n, defined.Tree)
			}
		})
		defined.Root.Nodes = append(slices.Insert(defined.Root.Nodes, 0, enter.Copy()), leave.Copy())
	}
	b.calls = max(1, maxNesting/deepest)
	return nil
}

// nesting says how deep conditions and loops are nested in list.
func nesting(list *parse.ListNode) int {
	deepest := 0
	if list == nil {
		return deepest
	}
	branch := func(n parse.BranchNode) { deepest = max(deepest, nesting(n.List), nesting(n.ElseList)) }
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.IfNode:
			branch(n.BranchNode)
		case *parse.WithNode:
			branch(n.BranchNode)
		case *parse.RangeNode:
			branch(n.BranchNode)
		}
	}
	return deepest + 1
}

// walk visits the loops and pipelines below node, and those in them first.
func walk(node parse.Node, visit func(parse.Node)) {
	branch := func(n *parse.BranchNode) {
		walk(n.Pipe, visit)
		walk(n.List, visit)
		walk(n.ElseList, visit)
	}
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				walk(child, visit)
			}
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
		visit(n)
	case *parse.ActionNode:
		walk(n.Pipe, visit)
	case *parse.TemplateNode:
		walk(n.Pipe, visit)
	case *parse.PipeNode:
		if n != nil {
			for _, command := range n.Cmds {
				for _, arg := range command.Args {
					walk(arg, visit)
				}
			}
			visit(n)
		}
	case *parse.ChainNode:
		walk(n.Node, visit)
	}
}

// guardMethods inserts the guard behind each method that gets arguments. The others return what is small.
func guardMethods(pipe *parse.PipeNode, tree *parse.Tree) {
	var commands []*parse.CommandNode
	for i, command := range pipe.Cmds {
		commands = append(commands, command)
		switch command.Args[0].(type) {
		case *parse.FieldNode, *parse.ChainNode, *parse.VariableNode:
			if i > 0 || len(command.Args) > 1 {
				check := *command
				check.Args = []parse.Node{parse.NewIdentifier(methodName).SetTree(tree).SetPos(command.Pos)}
				commands = append(commands, &check)
			}
		}
	}
	pipe.Cmds = commands
}
