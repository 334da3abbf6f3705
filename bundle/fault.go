// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"errors"
	"fmt"
)

// Fault is something wrong in a file of a package.
type Fault struct {
	// File is the path in the package, with slashes: operator.yaml or templates/service.yaml.
	File string
	// Line and Column count from 1; 0 stands for unknown.
	Line, Column int
	// Message says what is wrong and what to do about it.
	Message string
}

// Error returns one line in the form that editors and terminals know: FILE:LINE:COLUMN: MESSAGE, as far as these are known.
func (f *Fault) Error() string {
	place := f.File
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
		if f.Column > 0 {
			place += fmt.Sprintf(":%d", f.Column)
		}
	}
	if place == "" {
		return f.Message
	}
	return place + ": " + f.Message
}

// join makes one error of faults, nil of none.
func join(faults []*Fault) error {
	errs := make([]error, len(faults))
	for i, fault := range faults {
		errs[i] = fault
	}
	return errors.Join(errs...)
}
