// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// instance is the name that the recordings have.
const instance = "sample"

// journey is a package on its way, and the row of the table that says how it went.
type journey struct {
	pack
	l       *lab.Lab
	ns      string
	content *bundle.Package
	version *v1beta1.OperatorVersion

	read, deploy, same, update, further, end string
}

// TestE2EPackages: with KUDO_E2E all of the journey, without it up to the comparison with KUDO.
func TestE2EPackages(t *testing.T) {
	t.Parallel()
	var table table
	t.Cleanup(func() { table.print(t) })
	for _, p := range find(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			j := &journey{pack: p}
			begin := time.Now()
			defer func() { table.add(j, t.Failed(), time.Since(begin)) }()
			j.run(t)
		})
	}
}

func (j *journey) run(t *testing.T) {
	t.Helper()
	var err error
	j.read = "refused"
	if j.content, err = bundle.Read(j.dir); err != nil {
		t.Fatal(err)
	}
	// The recorded objects carry the name of their namespace.
	j.ns = j.name + "-example"
	if _, j.version, _, err = bundle.Resources(j.content, j.ns); err != nil {
		t.Fatal(err)
	}
	j.read = "valid"
	j.l = room.Enter(t)
	out, err := j.l.Plugin(t, "package", "verify", j.dir)
	if err != nil {
		j.read = "invalid"
	}
	if j.recorded != nil && (err == nil) != slices.Equal(j.recorded.Install, []string{"ok"}) {
		t.Errorf("KUDO said %q of it; here: %v\n%s", j.recorded.Install, err, out)
	}
	if task := firstPipe(j.version); task != "" {
		j.deploy = fmt.Sprintf("not here: Pipe task %s needs a container that runs", task)
		j.renders(t)
		return
	}
	if _, err := j.l.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: j.ns}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	j.install(t)
	if j.recorded != nil {
		j.compareSteps(t)
		j.compareObjects(t)
	}
	if os.Getenv("KUDO_E2E") == "" {
		return
	}
	j.change(t)
	j.runPlans(t)
	j.uninstall(t)
}

// install deploys the package, with definitions of foreign kinds only if it cannot do without.
func (j *journey) install(t *testing.T) {
	t.Helper()
	args := []string{"install", j.dir, "--instance", instance, "-n", j.ns}
	for _, p := range j.values() {
		args = append(args, "-p", p)
	}
	j.deploy = "refused"
	if _, err := j.l.Plugin(t, args...); err != nil {
		t.Fatal(err)
	}
	run := j.ended(t, "deploy", "")
	j.deploy = string(run.Status.Status)
	if reason(run) == "UnknownKind" {
		t.Log(run.Status.Message)
		kinds := j.defineForeign(t)
		j.deploy = "with foreign definitions of " + strings.Join(kinds, ", ") + ": "
		run = j.plan(t, "deploy")
		j.deploy += string(run.Status.Status)
	}
	if run.Status.Status != v1beta1.ExecutionComplete {
		t.Fatalf("plan deploy: %s", run.Status.Message)
	}
}

// values are those that the package needs and has no default for.
func (j *journey) values() []string {
	if j.recorded != nil {
		return j.recorded.Params
	}
	var out []string
	for _, p := range j.version.Spec.Parameters {
		if p.Default != nil || p.Required != nil && !*p.Required {
			continue
		}
		value := map[v1beta1.ParameterType]string{"integer": "1", "number": "1", "boolean": "true", "array": "[]", "map": "{}"}[p.Type]
		if len(p.Enum) > 0 {
			value = p.Enum[0]
		}
		if value == "" {
			value = "value"
		}
		out = append(out, p.Name+"="+value)
	}
	return out
}

func firstPipe(version *v1beta1.OperatorVersion) string {
	for _, task := range version.Spec.Tasks {
		if task.Kind == "Pipe" {
			return task.Name
		}
	}
	return ""
}

// table is what the documents show of all packages.
type table struct {
	sync.Mutex
	rows []string
}

func (t *table) add(j *journey, failed bool, took time.Duration) {
	t.Lock()
	defer t.Unlock()
	verdict := "ok"
	if failed {
		verdict = "FAILED"
	}
	t.rows = append(t.rows, strings.Join([]string{j.name, verdict, j.read, j.deploy, j.same, j.update, j.further, j.end, took.Round(time.Second).String()}, "\t"))
}

func (t *table) print(tb testing.TB) {
	tb.Helper()
	t.Lock()
	defer t.Unlock()
	slices.Sort(t.rows)
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "package\ttest\tverify\tdeploy\tas KUDO\tupdate\tfurther plans\tuninstall\ttook\n%s\n", strings.Join(t.rows, "\n"))
	_ = w.Flush()
	tb.Logf("\n%s", out.String())
}
