// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package install_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Every release keeps here what its server stored: files NAME.pb with the bytes that etcd holds, and NAME.yaml with the same object to
// read. A server must read what any release before it wrote.

const (
	samplesDir = "testdata/samples"
	storedDir  = "testdata/stored"
)

// whatToDo ends every complaint about the format.
const whatToDo = `
The objects of a release lie in etcd and in backups, and every later server must read them.
- If you did not mean to change the format: find the field whose number or type changed in *.pb.go or types_*.go, and put it back.
  The number of a field that is gone is never given to another.
- If you added a field: set it in a file of apis/kudo/install/` + samplesDir + `, and keep the new format as a new release:
      go test ./apis/kudo/install -update-stored=vX.Y.Z
  That only ever makes a new folder. One of a release that was never published may be removed before, to be written anew.`

func TestMain(m *testing.M) {
	release := flag.String("update-stored", "", "release, as in v1.2.3, to make a folder of stored objects for")
	flag.Parse()
	if *release != "" {
		if err := writeRelease(storedDir, *release); err != nil {
			fmt.Fprintln(os.Stderr, "-update-stored:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// storageCodec is the one that the server stores with.
func storageCodec(t *testing.T) runtime.Codec {
	t.Helper()
	codecs := serializer.NewCodecFactory(newScheme())
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("the scheme has no serializer for protobuf")
	}
	return codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), v1beta1.SchemeGroupVersion, kudo.SchemeGroupVersion)
}

// checkRead is nil if the stored bytes say what the readable form says. A field that the readable form does not have, because it
// was added later, must have its default in both.
func checkRead(codec runtime.Codec, stored, readable []byte) error {
	want, err := decodeReadable(readable)
	if err != nil {
		return fmt.Errorf("the readable form is not what this server understands: %w", err)
	}
	got, err := runtime.Decode(codec, stored)
	if err != nil {
		return fmt.Errorf("the stored object cannot be read: %w", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("the stored object is read as another (- as it was, + as it is read):\n%s", diff)
	}
	return nil
}

// checkWritten is nil if this server stores the object as the bytes.
func checkWritten(codec runtime.Codec, stored, readable []byte) error {
	object, err := decodeReadable(readable)
	if err != nil {
		return err
	}
	now, err := runtime.Encode(codec, object)
	if err != nil {
		return err
	}
	if !bytes.Equal(stored, now) {
		at := 0
		for at < min(len(stored), len(now)) && stored[at] == now[at] {
			at++
		}
		return fmt.Errorf("it is stored as other bytes: %d instead of %d, different from byte %d on:\n- %q\n+ %q",
			len(now), len(stored), at, stored[at:min(at+40, len(stored))], now[at:min(at+40, len(now))])
	}
	return nil
}

func TestStoredObjectsOfEveryReleaseAreRead(t *testing.T) {
	codec := storageCodec(t)
	kinds := map[string]bool{}
	for _, release := range releases(t) {
		for _, o := range load(t, release) {
			t.Run(release+"/"+o.name, func(t *testing.T) {
				if !bytes.HasPrefix(o.stored, []byte("k8s\x00")) || !bytes.Contains(o.stored[:min(60, len(o.stored))], []byte("kudo.dev/v1beta1")) {
					t.Errorf("it does not begin as protobuf of kudo.dev/v1beta1 does: %q", o.stored[:min(60, len(o.stored))])
				}
				if err := checkRead(codec, o.stored, o.readable); err != nil {
					t.Errorf("%s/%s/%s.pb: %v%s", storedDir, release, o.name, err, whatToDo)
				}
			})
			kind, _, _ := strings.Cut(o.name, "-")
			kinds[release+" "+kind] = true
		}
		for _, kind := range []string{"operator", "operatorversion", "operatorversionrevision", "instance", "planexecution"} {
			if !kinds[release+" "+kind] {
				t.Errorf("release %s has no stored object of kind %s", release, kind)
			}
		}
	}
}

func TestStoredFormatIsThatOfTheNewestRelease(t *testing.T) {
	codec := storageCodec(t)
	all := releases(t)
	newest := all[len(all)-1]
	objects := load(t, newest)
	for _, o := range objects {
		t.Run(o.name, func(t *testing.T) {
			if err := checkWritten(codec, o.stored, o.readable); err != nil {
				t.Errorf("%s/%s/%s.pb: %v%s", storedDir, newest, o.name, err, whatToDo)
			}
		})
	}
	samples := sampleNames(t)
	for _, o := range objects {
		if !slices.Contains(samples, o.name) {
			t.Errorf("%s/%s/%s.yaml has no sample", storedDir, newest, o.name)
		}
	}
	for _, name := range samples {
		sample, err := decodeReadable(read(t, samplesDir, name+".yaml"))
		if err != nil {
			t.Fatalf("%s/%s.yaml: %v", samplesDir, name, err)
		}
		stored, err := decodeReadable(read(t, storedDir, newest, name+".yaml"))
		if err != nil {
			t.Fatalf("%s/%s/%s.yaml: %v%s", storedDir, newest, name, err, whatToDo)
		}
		if diff := cmp.Diff(stored, sample); diff != "" {
			t.Errorf("%s/%s.yaml is not what release %s keeps:\n%s%s", samplesDir, name, newest, diff, whatToDo)
		}
	}
}

// TestAChangeOfTheFormatIsSeen: the checks above notice what they are there for.
func TestAChangeOfTheFormatIsSeen(t *testing.T) {
	codec := storageCodec(t)
	const readable = "apiVersion: kudo.dev/v1beta1\nkind: PlanExecution\nmetadata: {name: a}\nspec: {instanceName: db, planName: backup}\n"
	object, err := decodeReadable([]byte(readable))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := runtime.Encode(codec, object)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkRead(codec, stored, []byte(readable)); err != nil {
		t.Fatal(err)
	}
	if err := checkWritten(codec, stored, []byte(readable)); err != nil {
		t.Fatal(err)
	}
	// Field 2 of the spec is planName; its key is the number, shifted by three, and the wire type 2.
	planName := []byte("\x12\x06backup")
	replaced := func(by string) []byte {
		if bytes.Count(stored, planName) != 1 {
			t.Fatalf("planName is not stored as %q: %q", planName, stored)
		}
		return bytes.Replace(stored, planName, []byte(by), 1)
	}
	for name, c := range map[string]struct {
		stored   []byte
		wantRead string
	}{
		"another number":  {stored: replaced("\x7a\x06backup"), wantRead: "read as another"},
		"a number taken":  {stored: replaced("\x0a\x06backup"), wantRead: "read as another"},
		"another type":    {stored: replaced("\x10\x06backup"), wantRead: "cannot be read"},
		"another value":   {stored: replaced("\x12\x06backuq"), wantRead: "read as another"},
		"half the object": {stored: stored[:len(stored)/2], wantRead: "cannot be read"},
	} {
		if err := checkRead(codec, c.stored, []byte(readable)); err == nil || !strings.Contains(err.Error(), c.wantRead) {
			t.Errorf("%s: reading says %v, want %q", name, err, c.wantRead)
		}
		if err := checkWritten(codec, c.stored, []byte(readable)); err == nil || !strings.Contains(err.Error(), "other bytes") {
			t.Errorf("%s: writing says %v", name, err)
		}
	}
	gone := strings.Replace(readable, "planName", "nameOfThePlan", 1)
	if err := checkRead(codec, stored, []byte(gone)); err == nil || !strings.Contains(err.Error(), "nameOfThePlan") {
		t.Errorf("a field that has another name in JSON: %v", err)
	}
}
