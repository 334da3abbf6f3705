#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The KUDO API Server Authors.
#
# Builds kuttl, unchanged, in the version pinned in go.mod, and prints its path as the only line on stdout.
#
# That version does not compile with Go 1.26, whose package testing has one method more in an interface that kuttl
# implements. So it is built with the older Go named below, which the go command fetches as a module.
#
#   KUDO_KUTTL_CACHE   where the program is kept (default: ~/.cache/kudo-kuttl)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { echo "hack/kuttl: $*" >&2; }

# What surrounds us must not change what is built: the key would not know of it.
export GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0 GOTOOLCHAIN=go1.25.4
unset GOOS GOARCH

key=$({ cat go.mod go.sum build.sh; uname -sm; } | sha256sum)
out=${KUDO_KUTTL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kudo-kuttl}/${key:0:16}
program=$out/kubectl-kuttl

if [[ ! -x $program ]]; then
	mkdir -p "$out"
	say "building kuttl with $GOTOOLCHAIN into $out: the first time this takes some minutes"
	tmp=$(mktemp "$out/building.XXXXXX")
	trap 'rm -f "$tmp"' EXIT
	begin=$SECONDS
	go build -trimpath -ldflags '-s -w' -o "$tmp" github.com/kudobuilder/kuttl/cmd/kubectl-kuttl
	chmod 0755 "$tmp"
	mv "$tmp" "$program"
	say "built in $((SECONDS - begin)) s"
fi
echo "$program"
