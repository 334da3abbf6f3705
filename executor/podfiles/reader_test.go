// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package podfiles

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestScript runs what runs in the container, with the shell of this machine.
func TestScript(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
	dir := t.TempDir()
	const limit = 1000
	binary := bytes.Repeat([]byte("\x00\n\xff\r"), limit/4)
	for name, content := range map[string][]byte{"empty": nil, "-n it's $x": []byte("x\n"), "full": binary, "large": append(binary, 'x')} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		printed, err := exec.Command("/bin/sh", "-c", script, "sh", file, strconv.Itoa(limit)).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := contentOf(printed, limit)
		var size *SizeError
		if name == "large" {
			if !errors.As(err, &size) || size.Size != limit+1 {
				t.Errorf("large: %v", err)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if len(content) > 0 {
			if _, err := contentOf(printed[:len(printed)-1], limit); err == nil {
				t.Errorf("%s: a file that is cut off was taken for whole", name)
			}
		}
	}
	for _, name := range []string{"none", "."} {
		var exit *exec.ExitError
		_, err := exec.Command("/bin/sh", "-c", script, "sh", filepath.Join(dir, name), "1").Output()
		if !errors.As(err, &exit) || exit.ExitCode() != 66 || !strings.Contains(string(exit.Stderr), "no such file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := contentOf([]byte("12"), limit); err == nil {
		t.Error("an answer without its first line was taken")
	}
}

func TestBounded(t *testing.T) {
	b := &bounded{limit: 3}
	for range 3 {
		if n, err := b.Write([]byte("ab")); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	}
	if b.String() != "aba" {
		t.Errorf("kept %q", b.String())
	}
}
