// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package fault

import (
	"errors"
	"fmt"
)

// Reasons of errors that end a run. Those that KUDO had keep their names, because people look for them in events.
const (
	ReasonRendering    = "TaskRenderingError"
	ReasonEnhancement  = "TaskEnhancementError"
	ReasonTaskKind     = "TaskBuildError"
	ReasonFailedObject = "FailedTerminalStateError"
	ReasonDummy        = "DummyTaskError"
	ReasonToggle       = "ToggleTaskError"
	ReasonCycle        = "CircularDependency"
	ReasonPipe         = "PipeTaskError"
	ReasonPipePod      = "ResourceValidationError"
	ReasonParameters   = "InvalidParams"
	ReasonRejected     = "ObjectRejected"
	ReasonForbidden    = "Forbidden"
	ReasonImmutable    = "ImmutableField"
	ReasonUnknownKind  = "UnknownKind"
	ReasonNamespace    = "NamespaceTerminating"
	ReasonVersion      = "InvalidOperatorVersion"
	ReasonInstanceGone = "InstanceDeleted"
	// ReasonTransient is the reason of errors that are tried again.
	ReasonTransient = "TransientError"
)

// Final is an error that trying again cannot mend.
type Final struct {
	// Reason is one CamelCase word for what went wrong.
	Reason string
	// Err is the cause, with what to do about it.
	Err error
}

// Error is the text of the cause.
func (f *Final) Error() string { return f.Err.Error() }

// Unwrap is the cause.
func (f *Final) Unwrap() error { return f.Err }

// Finalf makes a final error from a reason and a message.
func Finalf(reason, format string, args ...any) error {
	return &Final{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// Retried marks an error as one that can go away, whatever its cause is.
type Retried struct{ Err error }

// Error is the text of the cause.
func (r *Retried) Error() string { return r.Err.Error() }

// Unwrap is the cause.
func (r *Retried) Unwrap() error { return r.Err }

// Retryf makes an error that is tried again.
func Retryf(format string, args ...any) error { return &Retried{Err: fmt.Errorf(format, args...)} }

// marked returns the outermost mark of an error: what the code closest to the user decided wins.
func marked(err error) (reason string, final, ok bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		{
			var e *Final
			var e1 *Retried
			switch {
			case errors.As(err, &e):
				return e.Reason, true, true
			case errors.As(err, &e1):
				return ReasonTransient, false, true
			}
		}
	}
	return "", false, false
}

// Unmarked is an error with its text, without what it says of trying again.
func Unmarked(err error) error { return errors.New(err.Error()) }
