#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The KUDO API Server Authors.
#
# Checks everything about the sources that needs no running program. Changes nothing in the work tree.
#
#   hack/verify.sh            all checks; goes on after a failure, so that one run shows everything there is to mend
#   hack/verify.sh lint vet   only these
set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Cheap ones first: they fail within a second.
ALL=(headers length modules format generated tidy vet lint)

tmp="$(mktemp -d)"
trap 'rm -rf "${tmp}"' EXIT

# fail WHAT-IS-WRONG... WHAT-TO-RUN: the last argument is the way out.
fail() {
  printf '    %s\n' "${@:1:$#-1}" "-> ${*: -1}" >&2
  return 1
}

# What a commit of the tree as it stands would contain; a file deleted but not yet staged would not be in it.
tree() {
  git ls-files --cached --others --exclude-standard -z "$@" | while IFS= read -r -d '' file; do
    if [[ -e "${file}" ]]; then printf '%s\n' "${file}"; fi
  done
}

is_generated() { head -n 12 "$1" | grep -q '^// Code generated .* DO NOT EDIT\.$'; }

written() {
  tree '*.go' | while IFS= read -r file; do
    is_generated "${file}" || printf '%s\n' "${file}"
  done
}

modules() { tree 'go.mod' '**/go.mod' | xargs -n 1 dirname; }

check_headers() {
  echo "every Go file says its licence"
  local bad
  bad="$(tree '*.go' | while IFS= read -r file; do
    head -n 8 "${file}" | grep -q '^// SPDX-License-Identifier: Apache-2.0$' || echo "${file}"
  done)"
  [[ -z "${bad}" ]] || fail "${bad}" "put the two lines of hack/boilerplate.go.txt on top"
}

check_length() {
  echo "no file that people edit is longer than 450 lines"
  local bad
  bad="$(written | xargs wc -l | awk '$2 != "total" && $1 > 450 { print $2 ": " $1 " lines" }')"
  [[ -z "${bad}" ]] || fail "${bad}" "split it: one idea a file"
}

check_modules() {
  echo "the product does not depend on k8s.io/kubernetes"
  # Importing it would pin every release of the product to a patch release of Kubernetes, and drag in 33 replacements.
  if grep -nE '^[[:space:]]*(require[[:space:]]+)?k8s\.io/kubernetes[[:space:]]' go.mod; then
    fail "go.mod requires it" "use the published modules (k8s.io/api, client-go, …), or move the need to hack/kube"
  fi
}

check_format() {
  echo "sources are formatted"
  local bad
  bad="$(written | xargs gofmt -s -l)"
  [[ -z "${bad}" ]] || fail "${bad}" "make fmt"
}

check_generated() {
  echo "generated code is up to date"
  if ! command -v protoc >/dev/null; then
    fail "protoc is missing" "install the package protobuf-compiler (Debian, Ubuntu) or protobuf (Fedora, Homebrew)"
    return
  fi
  # In a copy: a check may not touch what it checks, and the copy holds still while people edit.
  mkdir "${tmp}/before" "${tmp}/after"
  tree >"${tmp}/files"
  tar -cf - -T "${tmp}/files" | tar -xf - -C "${tmp}/before"
  cp -R "${tmp}/before/." "${tmp}/after"
  # The tools are the same for every copy of the tree; building them once is enough.
  if ! TOOLS_DIR="${PWD}/bin/tools" "${tmp}/after/hack/update-codegen.sh" >"${tmp}/codegen.log" 2>&1; then
    cat "${tmp}/codegen.log" >&2
    fail "the generators fail" "make generate, and mend what it says"
    return
  fi
  if ! (cd "${tmp}" && diff -ruN -x bin before after) >"${tmp}/codegen.diff"; then
    head -n 60 "${tmp}/codegen.diff" >&2
    fail "$(grep -c '^diff ' "${tmp}/codegen.diff") files differ from what the generators write" "make generate"
  fi
}

check_tidy() {
  echo "go.mod and go.sum of every module are tidy"
  local module bad=0
  for module in $(modules); do
    if ! (cd "${module}" && go mod tidy -diff); then
      fail "${module}/go.mod" "(cd ${module} && go mod tidy)" || bad=1
    fi
  done
  return "${bad}"
}

# hack/kube and hack/lint hold only the list of what they pin, so there is nothing to vet or lint in them.
with_code() {
  local module
  for module in $(modules); do
    if [[ -n "$(cd "${module}" && go list ./... 2>/dev/null)" ]]; then echo "${module}"; fi
  done
}

check_vet() {
  echo "go vet finds nothing"
  local module bad=0
  for module in $(with_code); do
    (cd "${module}" && go vet ./...) || fail "in module ${module}" "mend what is named above" || bad=1
  done
  return "${bad}"
}

check_lint() {
  echo "golangci-lint finds nothing"
  local lint module bad=0 config="${PWD}/.golangci.yaml"
  lint="$(hack/install-lint.sh)"
  for module in $(with_code); do
    (cd "${module}" && "${lint}" run --config "${config}" ./...) ||
      fail "in module ${module}" "make fmt mends the layout; the rest is for people" || bad=1
  done
  return "${bad}"
}

(($#)) || set -- "${ALL[@]}"
failed=()
for name; do
  if ! declare -F "check_${name}" >/dev/null; then
    echo "there is no check ${name}; there are: ${ALL[*]}" >&2
    exit 2
  fi
  begin="${SECONDS}"
  printf '==> %s: ' "${name}"
  # In a subshell of its own: errexit does not work inside a function that is part of a condition.
  set +o errexit
  (set -o errexit; "check_${name}")
  rc="$?"
  set -o errexit
  if ((rc)); then failed+=("${name}"); fi
  printf '    %s %s in %d s\n' "${name}" "$( ((rc)) && echo FAILED || echo ok)" "$((SECONDS - begin))"
done

if ((${#failed[@]})); then
  echo "verify: failed: ${failed[*]}; one alone: hack/verify.sh ${failed[0]}" >&2
  exit 1
fi
echo "verify: all checks passed in ${SECONDS} s"
