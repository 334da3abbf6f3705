// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Command image packs static programs into OCI image archives, one program to an image, without a container runtime.
// The same program gives the same bytes and so the same digest, on any machine: nothing of the place and the time of
// the build goes in.
//
//	image --out DIR [--prefix kudo.dev/] [--tag latest] PROGRAM...
//	image --out DIR --layer ROOT.tar --reference NAME:TAG COMMAND...
//
// The second form makes the image of a root file system, for tests, with what runs where nothing else is asked for.
//
// An archive is what `ctr images import`, `podman load`, `docker load` and `kind load image-archive` read.
package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user the programs run as: not root, and the number that distroless images have made a convention.
const nobody = 65532

func main() {
	out := flag.String("out", "bin/images", "folder to write the archives to")
	prefix := flag.String("prefix", "kudo.dev/", "what the name of an image begins with")
	tag := flag.String("tag", "latest", "tag of the images")
	layer := flag.String("layer", "", "tar archive of a root file system, for an image of that")
	reference := flag.String("reference", "", "name of the image of --layer")
	flag.Parse()
	if flag.NArg() == 0 || (*layer == "") != (*reference == "") {
		flag.Usage()
		os.Exit(2)
	}
	if *layer != "" {
		if err := packRoot(*layer, *reference, *out, flag.Args()); err != nil {
			fmt.Fprintf(os.Stderr, "image %s: %v\n", *reference, err)
			os.Exit(1)
		}
		return
	}
	for _, program := range flag.Args() {
		name := filepath.Base(program)
		archive := filepath.Join(*out, name+".tar")
		digest, err := pack(program, *prefix+name+":"+*tag, archive)
		if err != nil {
			fmt.Fprintf(os.Stderr, "image %s: %v\n", name, err)
			os.Exit(1)
		}
		fmt.Printf("%s  %s  %s\n", digest, *prefix+name+":"+*tag, archive)
	}
}

// pack writes the archive of one program and returns the digest of the image in it.
func pack(program, reference, archive string) (v1.Hash, error) {
	image, err := build(program)
	if err != nil {
		return v1.Hash{}, err
	}
	return write(image, reference, archive)
}

// write makes the archive of an image.
func write(image v1.Image, reference, archive string) (v1.Hash, error) {
	digest, err := image.Digest()
	if err != nil {
		return v1.Hash{}, err
	}
	folder, err := os.MkdirTemp("", "kudo-image-")
	if err != nil {
		return v1.Hash{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := path.WriteImage(image); err != nil {
		return v1.Hash{}, err
	}
	entry, err := describe(image, reference)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := path.AppendDescriptor(*entry); err != nil {
		return v1.Hash{}, err
	}
	return digest, archiveFolder(folder, archive)
}

// describe makes the entry of the index that names the image.
func describe(image v1.Image, reference string) (*v1.Descriptor, error) {
	entry, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	// The library calls every image an artifact; readers pass over artifacts when they look for images.
	entry.ArtifactType = ""
	entry.Platform = &v1.Platform{OS: config.OS, Architecture: config.Architecture}
	// containerd reads the first, which is the whole name; the others read the second, which is the tag alone.
	_, tag, _ := strings.Cut(reference, ":")
	entry.Annotations = map[string]string{
		"io.containerd.image.name":          reference,
		"org.opencontainers.image.ref.name": tag,
	}
	return entry, nil
}

// build makes an image of one layer. The processor the image is for is the one the program was compiled for.
func build(program string) (v1.Image, error) {
	machine, err := architecture(program)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(program)
	var root bytes.Buffer
	if err := writeRoot(&root, name, content); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(root.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", machine
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/local/bin/" + name},
		Env:        []string{"PATH=/usr/local/bin", "HOME=/home/nonroot"},
		User:       fmt.Sprintf("%d:%d", nobody, nobody),
		WorkingDir: "/home/nonroot",
		Labels:     map[string]string{"org.opencontainers.image.title": name, "org.opencontainers.image.licenses": "Apache-2.0"},
	}
	return mutate.ConfigFile(image, config)
}

func architecture(program string) (string, error) {
	file, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("%s is not a program for Linux (build it with GOOS=linux): %w", program, err)
	}
	defer func() { _ = file.Close() }()
	for _, segment := range file.Progs {
		// There is no loader and no C library in the image.
		if segment.Type == elf.PT_INTERP {
			return "", fmt.Errorf("%s is linked dynamically (build it with CGO_ENABLED=0)", program)
		}
	}
	switch file.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	default:
		return "", fmt.Errorf("%s: no images for %v", program, file.Machine)
	}
}

// writeRoot writes the root file system. Beside the program it has what programs expect to find: names for user
// numbers, a home and a folder for temporary files.
func writeRoot(w io.Writer, name string, program []byte) error {
	users := fmt.Sprintf("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/home/nonroot:/sbin/nologin\n", nobody, nobody)
	groups := fmt.Sprintf("root:x:0:\nnonroot:x:%d:\n", nobody)
	entries := []struct {
		header  tar.Header
		content string
	}{
		{header: tar.Header{Name: "etc/", Mode: 0o755}},
		{header: tar.Header{Name: "etc/group", Mode: 0o644}, content: groups},
		{header: tar.Header{Name: "etc/passwd", Mode: 0o644}, content: users},
		{header: tar.Header{Name: "home/", Mode: 0o755}},
		{header: tar.Header{Name: "home/nonroot/", Mode: 0o700, Uid: nobody, Gid: nobody}},
		{header: tar.Header{Name: "tmp/", Mode: 0o1777}},
		{header: tar.Header{Name: "usr/", Mode: 0o755}},
		{header: tar.Header{Name: "usr/local/", Mode: 0o755}},
		{header: tar.Header{Name: "usr/local/bin/", Mode: 0o755}},
		{header: tar.Header{Name: "usr/local/bin/" + name, Mode: 0o755}, content: string(program)},
	}
	archive := tar.NewWriter(w)
	for _, entry := range entries {
		entry.header.Size = int64(len(entry.content))
		if err := archive.WriteHeader(&entry.header); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, entry.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// archiveFolder writes the files below folder to a tar archive. A reader never sees half of it.
func archiveFolder(folder, target string) (err error) {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(target), ".image-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	archive := tar.NewWriter(file)
	// WalkDir goes in the order of names, which is the same on every file system.
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := file.Chmod(0o644); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), target)
}
