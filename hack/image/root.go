// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package main

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// packRoot writes the archive of an image with the root file system, for the machine it is made on.
func packRoot(root, reference, out string, command []string) error {
	layer, err := tarball.LayerFromFile(root, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(1))
	if err != nil {
		return err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Cmd: command, Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	name, _, _ := strings.Cut(path.Base(reference), ":")
	archive := filepath.Join(out, name+".tar")
	digest, err := write(image, reference, archive)
	if err == nil {
		fmt.Printf("%s  %s  %s\n", digest, reference, archive)
	}
	return err
}
