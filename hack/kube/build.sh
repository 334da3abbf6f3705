#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The KUDO API Server Authors.
#
# Builds the programs of a test control plane from the versions pinned in go.mod
# and prints, as the only line on stdout, the folder they are in:
#
#   etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok
#   kwok-stages/   how KWOK's nodes, pods and volumes behave, one Stage per file
#   kwok-crds/     KWOK's own CustomResourceDefinitions
#
# The folder is named after everything that decides its content, so a change of
# version builds anew and an unchanged one is found at once. Interrupted builds
# go on where they stopped: each program appears under its name only when whole.
#
#   KUDO_KUBE_CACHE   where such folders are kept (default: ~/.cache/kudo-kube)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { echo "hack/kube: $*" >&2; }
die() { say "$*"; exit 1; }

command -v go >/dev/null || die "no go command on PATH: install Go, then run this again"

# What surrounds us must not change what is built: the key would not know of it.
export GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0
unset GOOS GOARCH

key=$({ cat go.mod go.sum build.sh; go version; } | sha256sum)
out=${KUDO_KUBE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kudo-kube}/${key:0:16}

if [[ -e $out/complete ]]; then
	echo "$out"
	exit 0
fi

mkdir -p "$out"
command -v flock >/dev/null || die "no flock command on PATH: install util-linux, then run this again"
exec 9>"$out/lock"
if ! flock -n 9; then
	say "another build of the same versions is running: waiting for it"
	flock 9
fi
if [[ -e $out/complete ]]; then
	echo "$out"
	exit 0
fi

# Under the lock nobody else builds here, so whatever lies there was interrupted.
rm -rf "$out"/building.*
tmp=$(mktemp -d "$out/building.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

version_of() { go list -m -f '{{.Version}}' "$1"; }
kube=$(version_of k8s.io/kubernetes)
minor=${kube#v*.}
minor=${minor%%.*}

# kubectl refuses to parse the version that an unstamped build reports.
stamp="-s -w"
for pkg in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	stamp+=" -X $pkg.gitVersion=$kube -X $pkg.gitMajor=1 -X $pkg.gitMinor=$minor -X $pkg.gitTreeState=clean"
done

say "building etcd $(version_of go.etcd.io/etcd/server/v3), Kubernetes $kube, KWOK $(version_of sigs.k8s.io/kwok) into $out"
say "the first time this takes about 6 to 10 minutes on two cores; it is kept and not done again"

build() { # name package
	if [[ -x $out/$1 ]]; then
		say "$1: there from an earlier run"
		return
	fi
	local begin=$SECONDS
	say "$1: building ..."
	go build -trimpath -ldflags "$stamp" -o "$tmp/$1" "$2" ||
		die "$1: the build failed, see above; run hack/kube/build.sh again to go on from here"
	mv "$tmp/$1" "$out/$1"
	say "$1: built in $((SECONDS - begin)) s"
}

# The API server first: most of what the others need is compiled with it.
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager
build kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler
build kubectl k8s.io/kubernetes/cmd/kubectl
build etcd go.etcd.io/etcd/server/v3
build kwok sigs.k8s.io/kwok/cmd/kwok

# Files in the module cache are read-only; a copy that is, too, could not be replaced.
kwok=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize
install_yaml() { # folder file...
	local to=$1 f
	shift
	mkdir -p "$out/$to"
	for f; do
		[[ $(basename "$f") == kustomization.yaml ]] || install -m 0644 "$f" "$out/$to/"
	done
}
install_yaml kwok-stages \
	"$kwok"/stage/node/fast/node-initialize.yaml \
	"$kwok"/stage/node/heartbeat-with-lease/*.yaml \
	"$kwok"/stage/pod/fast/*.yaml \
	"$kwok"/stage/volume/fast/{pvc-provision,pvc-delete,pv-bind,pv-delete}.yaml
install_yaml kwok-crds "$kwok"/crd/bases/*.yaml

touch "$out/complete"
say "done in $SECONDS s"
echo "$out"
