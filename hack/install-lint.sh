#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The KUDO API Server Authors.
#
# Builds the linter that hack/lint/go.mod pins, unless that is done, and prints its path as the only line on stdout.
set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/lint"
out="$(cd ../.. && pwd -P)/bin/tools/golangci-lint"

# go build would find out by itself, but reads two hundred modules to do so.
if [[ ! "${out}" -nt go.sum || ! "${out}" -nt go.mod ]]; then
  begin="${SECONDS}"
  echo "building golangci-lint $(go list -m -f '{{.Version}}' github.com/golangci/golangci-lint/v2); this is done once and takes a minute or two" >&2
  go build -o "${out}" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  # An unchanged program is not written again; without this it would look old each time.
  touch "${out}"
  echo "built in $((SECONDS - begin)) s" >&2
fi
echo "${out}"
