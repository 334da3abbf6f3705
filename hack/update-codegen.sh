#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The KUDO API Server Authors.
#
# Generates everything that is generated: protobuf, deep copies, conversions, defaults, OpenAPI, clients.
# Needs protoc (Debian: protobuf-compiler, Homebrew: protobuf); all other tools are pinned in go.mod.
set -o errexit -o nounset -o pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd "${ROOT}"
MODULE="$(go list -m)"
# The check of generated code runs this in a copy of the tree and lends it the tools of the original.
TOOLS_DIR="${TOOLS_DIR:-${ROOT}/bin/tools}"
export GOBIN="${TOOLS_DIR}"
export PATH="${GOBIN}:${PATH}"
mkdir -p "${GOBIN}"

command -v protoc >/dev/null || {
  echo "protoc is missing: install the package protobuf-compiler (Debian, Ubuntu) or protobuf (Fedora, Homebrew)" >&2
  exit 1
}

# A module that nothing has been built from yet has no folder before it is downloaded.
moddir() { go mod download "$1" && go list -mod=mod -m -f '{{.Dir}}' "$1"; }

protobuf() {
  echo "generating protobuf"
  go install k8s.io/code-generator/cmd/go-to-protobuf k8s.io/code-generator/cmd/go-to-protobuf/protoc-gen-gogo \
    golang.org/x/tools/cmd/goimports
  # go-to-protobuf writes to a folder named by the import path, so it gets one that leads back here.
  local out; out="$(mktemp -d)"
  mkdir -p "${out}/$(dirname "${MODULE}")"
  ln -s "${ROOT}" "${out}/${MODULE}"
  local gogo; gogo="$(moddir github.com/gogo/protobuf)"
  go-to-protobuf \
    --go-header-file hack/boilerplate.go.txt \
    --output-dir "${out}" \
    --proto-import="github.com/gogo/protobuf/gogoproto=${gogo}/gogoproto" \
    --proto-import="${gogo}/protobuf" \
    --proto-import="k8s.io/apimachinery=$(moddir k8s.io/apimachinery)" \
    --apimachinery-packages=-k8s.io/apimachinery/pkg/util/intstr,-k8s.io/apimachinery/pkg/api/resource,-k8s.io/apimachinery/pkg/runtime/schema,-k8s.io/apimachinery/pkg/runtime,-k8s.io/apimachinery/pkg/apis/meta/v1 \
    --packages="${MODULE}/apis/kudo/v1beta1"
  rm -rf "${out}"
}

# shellcheck source=/dev/null
source "$(moddir k8s.io/code-generator)/kube_codegen.sh"
export GOBIN="${TOOLS_DIR}"

protobuf
kube::codegen::gen_helpers --boilerplate hack/boilerplate.go.txt apis
kube::codegen::gen_openapi --boilerplate hack/boilerplate.go.txt \
  --output-dir generated/openapi --output-pkg "${MODULE}/generated/openapi" \
  --report-filename hack/api-violations.list ${UPDATE_API_VIOLATIONS:+--update-report} \
  --output-model-name-file zz_generated.model_name.go apis
kube::codegen::gen_client --with-watch --with-applyconfig \
  --applyconfig-openapi-schema <(go run ./hack/models-schema) \
  --prefers-protobuf \
  --boilerplate hack/boilerplate.go.txt \
  --output-dir generated --output-pkg "${MODULE}/generated" apis
