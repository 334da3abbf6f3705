// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package bundle reads operator packages: a folder, or a gzip'd tar of one from a file or a URL, with operator.yaml,
// params.yaml and templates/. It makes of them the API objects that the command line installs, and it packs folders.
//
// The format is that of KUDO 0.19, including its leniency: unknown keys are ignored, keys match without regard to
// case, and unquoted numbers and booleans are taken where text is expected. What reading ignores, bundle/verify finds;
// bundle/resolve finds the packages that a package needs.
//
// Packages come from anywhere. Whatever they contain, the answer is an error that names the file, and never a panic;
// nothing outside the folder is read unless the package names it as a child, and what reading may take is limited.
//
// The package may import apis, apimachinery and YAML; it may be imported by bundle/resolve, bundle/verify, cli and cmd.
package bundle
