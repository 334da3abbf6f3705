#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The KUDO API Server Authors.
#
# Makes what a test node with real containers consists of, beside the Debian packages it runs (test/cluster names those
# that are missing), and prints, as the only line on stdout, the folder it is in:
#
#   kubelet kube-proxy   of the version pinned in go.mod
#   images/              archives of container images, made of Debian packages: there is no registry
#
# Needs root, for the owners of the files in the images, and apt. The folder is found again as that of build.sh is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { echo "hack/kube/node.sh: $*" >&2; }
die() { say "$*"; exit 1; }

[[ $(id -u) == 0 ]] || die "root is needed: the files in an image have owners"
command -v apt-get >/dev/null || die "no apt-get: the images are made of Debian packages"

export GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0
unset GOOS GOARCH

key=$({ cat go.mod go.sum node.sh ../image/*.go; go version; } | sha256sum)
out=${KUDO_KUBE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kudo-kube}/node-${key:0:16}
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
if [[ -e $out/complete ]]; then
	echo "$out"
	exit 0
fi
rm -rf "$out"/building.*
tmp=$(mktemp -d "$out/building.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

kube=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${kube#v*.}
# The same stamp as in build.sh: an unstamped kubelet reports a version that nothing can parse.
stamp="-s -w"
for pkg in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	stamp+=" -X $pkg.gitVersion=$kube -X $pkg.gitMajor=1 -X $pkg.gitMinor=${minor%%.*} -X $pkg.gitTreeState=clean"
done
for program in kubelet kube-proxy; do
	[[ -x $out/$program ]] && continue
	say "$program $kube: building, about a minute on two cores ..."
	go build -trimpath -ldflags "$stamp" -o "$tmp/$program" "k8s.io/kubernetes/cmd/$program"
	mv "$tmp/$program" "$out/$program"
done

# apt works on a system with nothing installed, so that what it names is all that a bare root needs.
apt=(apt-get -qq -o "Dir::State::status=/dev/null" -o "Dir::Cache::archives=$tmp/debs" -o "APT::Install-Recommends=false"
	-o "APT::Sandbox::User=root" --yes --download-only)
mkdir -p "$tmp/debs/partial"
fetch() { # packages...: with all they depend on, into $tmp/debs
	rm -f "$tmp"/debs/*.deb
	"${apt[@]}" install "$@" >"$tmp/apt.log" 2>&1 || {
		apt-get -qq update >&2 && "${apt[@]}" install "$@" >"$tmp/apt.log" 2>&1
	} || die "apt-get cannot fetch $*: $(tail -3 "$tmp/apt.log")"
}
unpack() { # root files...: without running what the packages would run
	local root=$1 deb
	shift
	for deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" \
			--exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*'
	done
}
skeleton() { # root
	mkdir -p "$1"/usr/{bin,sbin,lib,lib64} "$1"/{etc,tmp,run,proc,sys,dev,root} "$1"/var/{lib,log}
	chmod 1777 "$1/tmp"
	local name
	for name in bin sbin lib lib64; do ln -s "usr/$name" "$1/$name"; done
	printf '%s\n' root:x:0:0::/root:/bin/sh mysql:x:999:999::/var/lib/mysql:/bin/false >"$1/etc/passwd"
	printf '%s\n' root:x:0: mysql:x:999: >"$1/etc/group"
	printf '%s\n' 'hosts: files dns' >"$1/etc/nsswitch.conf"
}
applets() { # root: a name for each program that busybox is, where no package has one
	local name
	for name in $("$1/bin/busybox" --list); do
		[[ -e $1/bin/$name || -e $1/sbin/$name ]] || ln -s busybox "$1/bin/$name"
	done
}
pack() { # name root command...
	local name=$1 root=$2
	shift 2
	tar -c --sort=name --mtime=@0 --numeric-owner --format=gnu -C "$root" -f "$tmp/$name.layer" .
	mkdir -p "$tmp/images"
	go -C ../image run . --layer "$tmp/$name.layer" --reference "localhost/$name:node" --out "$tmp/images" "$@" >&2
}

say "the images: fetching packages of Debian ..."
fetch busybox-static
skeleton "$tmp/busybox"
unpack "$tmp/busybox" "$tmp"/debs/busybox-static_*.deb
applets "$tmp/busybox"
# This command is what the image does as the sandbox of a pod.
pack busybox "$tmp/busybox" sleep infinity

fetch mariadb-server-core mariadb-client-core
skeleton "$tmp/mariadb"
unpack "$tmp/mariadb" "$tmp"/debs/*.deb
# This one alone, for mariadb-dump: what it depends on is Perl, which is not used.
(cd "$tmp" && apt-get -qq -o APT::Sandbox::User=root download mariadb-client >/dev/null && dpkg-deb -x mariadb-client_*.deb client)
install -m 0755 "$tmp/client/usr/bin/mariadb-dump" "$tmp/client/usr/bin/mariadb-admin" "$tmp/mariadb/usr/bin/"
cp "$tmp/busybox/bin/busybox" "$tmp/mariadb/bin/busybox"
applets "$tmp/mariadb"
install -d -o 999 -g 999 "$tmp/mariadb/var/lib/mysql"
pack mariadb "$tmp/mariadb" mariadbd

rm -rf "$out/images"
mv "$tmp/images" "$out/images"
touch "$out/complete"
say "done in $SECONDS s"
echo "$out"
