// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package apiserver assembles the server: the generic API server, the storages of the group kudo.dev, the trigger route and the
// keeper of locks. Its sub-packages hold the flags (options), the embedded storage (etcd) and the serving certificate
// (certificates). It may import apis, registry and the generated OpenAPI definitions.
package apiserver
