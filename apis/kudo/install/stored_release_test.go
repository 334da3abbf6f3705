// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package install_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// storedObject is one object of a release.
type storedObject struct {
	name             string
	stored, readable []byte
}

// decodeReadable makes the hub object of YAML and refuses fields that do not exist.
func decodeReadable(data []byte) (runtime.Object, error) {
	codecs := serializer.NewCodecFactory(newScheme(), serializer.EnableStrict)
	return runtime.Decode(codecs.UniversalDecoder(kudo.SchemeGroupVersion), data)
}

// releases are the names of the folders, oldest first.
func releases(t *testing.T) []string {
	t.Helper()
	all, err := releasesIn(storedDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no release", storedDir)
	}
	return all
}

var releaseName = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

func releasesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if !e.IsDir() || !releaseName.MatchString(e.Name()) {
			return nil, fmt.Errorf("%s in %s is not a folder named as a release, such as v1.2.3", e.Name(), dir)
		}
		all = append(all, e.Name())
	}
	slices.SortFunc(all, compareReleases)
	return all, nil
}

func compareReleases(a, b string) int {
	if a == b {
		return 0
	}
	if version.MustParseSemantic(a).LessThan(version.MustParseSemantic(b)) {
		return -1
	}
	return 1
}

// load reads the objects of a release; each must be there in both forms.
func load(t *testing.T, release string) []storedObject {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(storedDir, release))
	if err != nil {
		t.Fatal(err)
	}
	var all []storedObject
	for _, e := range entries {
		name, found := strings.CutSuffix(e.Name(), ".yaml")
		if found {
			all = append(all, storedObject{name: name, readable: read(t, storedDir, release, e.Name()), stored: read(t, storedDir, release, name+".pb")})
		}
	}
	if len(entries) != 2*len(all) {
		t.Errorf("%s/%s has files that are not a pair of NAME.pb and NAME.yaml", storedDir, release)
	}
	return all
}

func read(t *testing.T, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sampleNames are the objects that a new release keeps.
func sampleNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(samplesDir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", samplesDir, err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	return names
}

// writeRelease stores the samples in a new folder below dir. What a release stored never changes, so a folder that exists is refused,
// and so is a release before another: it would be of a format that was not current then.
func writeRelease(dir, release string) (err error) {
	if !releaseName.MatchString(release) {
		return fmt.Errorf("%q is not a release: name it as in v1.2.3", release)
	}
	existing, err := releasesIn(dir)
	if err != nil {
		return err
	}
	if slices.Contains(existing, release) {
		return fmt.Errorf("%s exists, and what a release stored never changes: choose the next release", filepath.Join(dir, release))
	}
	if n := len(existing); n > 0 && compareReleases(release, existing[n-1]) < 0 {
		return fmt.Errorf("%s is older than %s, which exists: choose the next release", release, existing[n-1])
	}
	files, err := filepath.Glob(filepath.Join(samplesDir, "*.yaml"))
	if err != nil {
		return err
	}
	written := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		stored, readable, err := bothForms(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		written[name+".pb"], written[name+".yaml"] = stored, readable
	}
	if err := os.MkdirAll(filepath.Join(dir, release), 0o755); err != nil {
		return err
	}
	for name, data := range written {
		if err := os.WriteFile(filepath.Join(dir, release, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bothForms makes of a sample what the server would store, and the YAML it would answer.
func bothForms(sample []byte) (stored, readable []byte, err error) {
	object, err := decodeReadable(sample)
	if err != nil {
		return nil, nil, err
	}
	scheme := newScheme()
	codecs := serializer.NewCodecFactory(scheme)
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		return nil, nil, errors.New("the scheme has no serializer for protobuf")
	}
	if stored, err = runtime.Encode(codecs.EncoderForVersion(info.Serializer, v1beta1.SchemeGroupVersion), object); err != nil {
		return nil, nil, err
	}
	wire, err := scheme.ConvertToVersion(object, v1beta1.SchemeGroupVersion)
	if err != nil {
		return nil, nil, err
	}
	readable, err = yaml.Marshal(wire)
	return stored, readable, err
}

func TestAReleaseIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	if err := writeRelease(dir, "v1.10.0"); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "v1.10.0", "operator.pb")
	if err := os.WriteFile(kept, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	for release, want := range map[string]string{"v1.10.0": "never changes", "v1.9.9": "older than v1.10.0", "next": "not a release", "../v2.0.0": "not a release"} {
		if err := writeRelease(dir, release); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", release, err, want)
		}
	}
	if err := writeRelease(dir, "v1.11.0"); err != nil {
		t.Error(err)
	}
	if got := read(t, kept); string(got) != "as it was" {
		t.Errorf("a file of an earlier release was overwritten: %q", got)
	}
	all, err := releasesIn(dir)
	if want := []string{"v1.10.0", "v1.11.0"}; err != nil || !slices.Equal(all, want) {
		t.Errorf("got %v, %v, want %v", all, err, want)
	}
}
