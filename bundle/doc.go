// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package bundle reads operator packages: a folder, or a gzip'd tar of one, with operator.yaml, params.yaml and
// templates/. It makes of them the API objects that the command line installs.
//
// The format is that of KUDO 0.19, including its leniency: unknown keys are ignored, keys match without regard to
// case, and unquoted numbers and booleans are taken where text is expected.
//
// Packages come from anywhere. Whatever they contain, the answer is an error and never a panic; nothing outside the
// folder is read, and what an archive may unpack to is limited.
//
// The package may import apis, apimachinery and YAML; it may be imported by cli and cmd.
package bundle
