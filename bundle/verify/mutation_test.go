// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/bundle/verify"
	"kudo.dev/kudo/render"
)

const (
	// mostMemory is what the process that reads all of them may take, in bytes: the largest resident size the kernel saw.
	// It includes the test itself, which makes the packages.
	mostMemory = 200 << 20
	// longest is how long all of them may take before they count as hanging. They take some seconds.
	longest = 8 * time.Minute
)

// mutants is how many packages are made, with one fault each. With the race detector, which makes
// everything ten times as slow, each fault is there once.
func mutants() int {
	if raceDetector {
		return len(mutations)
	}
	return 500
}

// outcome is what became of one mutant.
type outcome struct {
	Number         int
	Fault, Package string
	// Refused is the text of the refusal, empty if there was none.
	Refused string
	// Want is what the refusal has to contain: the file, and the line where there is one.
	Want []string
	// Changed says that the mutant differs from the package it was made of.
	Changed bool
	// Took is how long it took to read and refuse it, Memory the largest size of the process so far, in KB.
	Took   time.Duration
	Memory int64
}

// Each of 500 packages with one fault is refused, with the file and, where there is one, the line. None ends the process,
// hangs it, or takes more than 200 MB.
//
// They are read in a process of their own, so that one that ends it, or a stack that overflows, is seen; and so that what the
// kernel counts as its largest size is theirs.
func TestMutants(t *testing.T) {
	seed := uint64(20261121)
	if text := os.Getenv("KUDO_SEED"); text != "" {
		parsed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = parsed
	}
	t.Logf("KUDO_SEED=%d repeats this", seed)
	ctx, stop := context.WithTimeout(t.Context(), longest)
	defer stop()
	results := filepath.Join(t.TempDir(), "results")
	command := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestMutantsInProcess$", "-test.v")
	command.Env = append(os.Environ(), "KUDO_MUTANTS="+results, "KUDO_SEED="+strconv.FormatUint(seed, 10))
	printed, err := command.CombinedOutput()
	outcomes := readOutcomes(t, results)
	if err != nil {
		last := "before the first"
		if len(outcomes) > 0 {
			last = fmt.Sprintf("after %+v", outcomes[len(outcomes)-1])
		}
		t.Fatalf("the process ended %s: %v\n%s", last, err, tail(printed))
	}
	if len(outcomes) != mutants() {
		t.Fatalf("%d of %d packages were read\n%s", len(outcomes), mutants(), tail(printed))
	}
	faults, memory := map[string]int{}, int64(0)
	for _, o := range outcomes {
		if o.Took > time.Second || o.Memory > memory+20<<10 {
			t.Logf("%d: %q of %s took %s, and the process had %d MB", o.Number, o.Fault, o.Package, o.Took.Round(time.Millisecond), o.Memory>>10)
		}
		memory = o.Memory
		faults[o.Fault]++
		if !o.Changed {
			t.Errorf("%d: %q of %s changed nothing", o.Number, o.Fault, o.Package)
		}
		if o.Refused == "" {
			t.Errorf("%d: %q of %s was not refused", o.Number, o.Fault, o.Package)
			continue
		}
		for _, want := range o.Want {
			if !strings.Contains(o.Refused, want) {
				t.Errorf("%d: %q of %s: %q is not in\n%s", o.Number, o.Fault, o.Package, want, o.Refused)
			}
		}
	}
	for _, m := range mutations {
		if faults[m.name] == 0 {
			t.Errorf("no package has the fault %q", m.name)
		}
	}
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok && !raceDetector {
		most := usage.Maxrss * 1024
		t.Logf("%d kinds of faults; the process had %d MB at most", len(faults), most>>20)
		if most > mostMemory {
			t.Errorf("the process had %d MB, of %d", most>>20, mostMemory>>20)
		}
	}
}

func tail(printed []byte) []byte { return printed[max(0, len(printed)-4000):] }

func readOutcomes(t *testing.T, path string) (outcomes []outcome) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for decoder := json.NewDecoder(bytes.NewReader(data)); decoder.More(); {
		var o outcome
		if err := decoder.Decode(&o); err != nil {
			t.Log(err)
			break
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// TestMutantsInProcess is the process that TestMutants starts.
func TestMutantsInProcess(t *testing.T) {
	path := os.Getenv("KUDO_MUTANTS")
	if path == "" {
		t.Skip("TestMutants runs it")
	}
	seed, err := strconv.ParseUint(os.Getenv("KUDO_SEED"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	random := rand.New(rand.NewPCG(seed, 1))
	bases := basePackages(t)
	folder := t.TempDir()
	for i := range mutants() {
		o := mutate(t, random, bases, mutations[i%len(mutations)], filepath.Join(folder, strconv.Itoa(i)))
		o.Number = i
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
			o.Memory = usage.Maxrss
		}
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
	}
}

// basePackages are packages without a fault: those of the project, and real ones, which are not part of the repository.
// KUDO_SHARED says where the latter are.
func basePackages(t *testing.T) (bases []base) {
	t.Helper()
	patterns := []string{filepath.Join("..", "..", "artifacts", "operators", "*")}
	if shared := os.Getenv("KUDO_SHARED"); shared != "" {
		patterns = append(patterns, filepath.Join(shared, "operators", "*"))
	}
	for _, pattern := range patterns {
		folders, _ := filepath.Glob(filepath.Join(pattern, bundle.OperatorFileName))
		for _, file := range folders {
			b := readBase(t, filepath.Dir(file))
			if err := judge(b.location, nil); err != nil {
				t.Fatalf("%s is not valid itself: %v", b.location, err)
			}
			bases = append(bases, b)
		}
	}
	if len(bases) < 2 {
		t.Fatal("there are no packages to mutate")
	}
	return bases
}

// mutate makes a mutant of one of the packages, chosen at random among those that have what the fault needs, and judges it.
func mutate(t *testing.T, random *rand.Rand, bases []base, m mutation, folder string) outcome {
	t.Helper()
	for _, i := range random.Perm(len(bases)) {
		mutant := &mutant{Rand: random, files: bases[i].clone(), folder: folder, t: t}
		if !m.apply(mutant) {
			continue
		}
		o := outcome{Fault: m.name, Package: filepath.Base(bases[i].location), Want: mutant.want, Changed: mutant.differs(bases[i])}
		location, begin := mutant.write(), time.Now()
		if err := judge(location, mutant.run); err != nil {
			o.Refused = err.Error()
		}
		o.Took = time.Since(begin)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		return o
	}
	t.Fatalf("no package can have the fault %q", m.name)
	return outcome{}
}

// judge says why a package is refused: when it is read, when it is verified, or when a plan renders its templates with the
// given variables.
func judge(location string, run *render.Variables) error {
	p, err := bundle.Read(location)
	if err != nil {
		return err
	}
	result, err := verify.Package(context.Background(), p)
	if err != nil {
		return err
	}
	if !result.Valid() {
		return fmt.Errorf("%s", strings.Join(result.Errors(), "\n"))
	}
	if _, _, _, err := bundle.Resources(p, "ns"); err != nil {
		return err
	}
	if run == nil {
		return nil
	}
	wire, _ := p.WireParameters()
	v := *run
	if v.Params, err = render.Parameters(wire, map[string]string{}, nil); err != nil {
		return err
	}
	for name, text := range p.Templates {
		if _, err := render.Template(name, text, v); err != nil && !unrelated.MatchString(err.Error()) {
			return err
		}
	}
	return nil
}

// unrelated are errors of templates whose variables a plan without Pipe tasks does not have.
var unrelated = regexp.MustCompile(`\.Pipes\.`)
