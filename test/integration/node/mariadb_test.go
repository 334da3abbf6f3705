// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package node

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// password has what scripts and SQL like least.
const password = `it's a "pass" \ $word`

// backups is a pod that sees the volume with the backups.
const backups = `
apiVersion: v1
kind: Pod
metadata: {name: backups}
spec:
  containers:
  - name: main
    image: ` + cluster.BusyboxImage + `
    volumeMounts: [{name: backups, mountPath: /backups}]
  volumes:
  - name: backups
    persistentVolumeClaim: {claimName: db-backups}
`

// database is the Instance "db" of the operator.
type database struct {
	l  *lab.Lab
	ns string
}

// sql asks the server, as root and with its password, and returns what it answers.
func (d database) sql(t *testing.T, statements string) string {
	t.Helper()
	return kubectl(t, d.l, statements, "exec", "-i", "-n", d.ns, "db-0", "--", "mariadb", "--no-defaults", "--socket=/tmp/mariadb.sock", "--user=root", "--batch", "--skip-column-names")
}

func (d database) rows(t *testing.T, want string) {
	t.Helper()
	if got := d.sql(t, "SELECT GROUP_CONCAT(id, '=', v ORDER BY id) FROM shop.items"); got != want {
		t.Fatalf("the rows are %q, want %q", got, want)
	}
}

// plan runs a plan as a user does and waits for its end.
func (d database) plan(t *testing.T, name string, args ...string) {
	t.Helper()
	_, err := d.l.Plugin(t, append([]string{"plan", "trigger", "--instance", "db", "--name", name, "--wait", "--wait-time", "180", "-n", d.ns}, args...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, kubectlOutput(d.l, "get", "pods,jobs,events", "-n", d.ns))
	}
	d.l.Unlocked(t, d.ns, "db")
}

func kubectlOutput(l *lab.Lab, args ...string) string {
	out, err := l.Cluster.Kubectl(args...)
	return fmt.Sprint(out, err)
}

// TestE2EMariaDB: the operator in artifacts does what it says, which the server tells: the rows of a backup are back after a
// restore, what came later is gone, and a parameter that is changed is in effect. In between the executor is killed.
func TestE2EMariaDB(t *testing.T) {
	l := enter(t)
	d := database{l: l, ns: l.Namespace(t)}
	begin := time.Now()
	out, err := l.Plugin(t, "install", filepath.Join(lab.Root(t), "artifacts", "operators", "mariadb"), "--instance", "db", "--wait", "--wait-time", "240", "-n", d.ns,
		"-p", "image="+cluster.MariaDBImage, "-p", "rootPassword="+password, "-p", "bufferPool=16M", "-p", "volumeOnDelete=Delete")
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, kubectlOutput(l, "get", "pods,pvc,events", "-n", d.ns), kubectlOutput(l, "logs", "-n", d.ns, "db-0"))
	}
	t.Logf("%s, after %v", strings.TrimSpace(out), time.Since(begin).Round(time.Millisecond))
	d.l.Unlocked(t, d.ns, "db")

	d.sql(t, "CREATE DATABASE shop; CREATE TABLE shop.items (id INT PRIMARY KEY, v TEXT); INSERT INTO shop.items VALUES (1,'one'),(2,'two'),(3,'three')")
	d.rows(t, "1=one,2=two,3=three")
	d.plan(t, "backup")
	d.sql(t, "DROP TABLE shop.items; CREATE TABLE shop.later (id INT)")
	d.plan(t, "restore")
	d.rows(t, "1=one,2=two,3=three")
	if got := d.sql(t, "SHOW TABLES IN shop"); got != "items" {
		t.Errorf("the tables after the restore are %q: what came after the backup is still there", got)
	}

	killedInBackup(t, d)

	// The server restarts with the new settings and its data.
	before, err := l.Kube.CoreV1().Pods(d.ns).Get(t.Context(), "db-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, l, "", "patch", "instance", "db", "-n", d.ns, "--type=merge", "-p", `{"spec":{"parameters":{"maxConnections":"37"}}}`)
	l.Instance(t, d.ns, "db", "to have run the plan update", func(i *v1beta1.Instance) bool {
		return i.Status.PlanStatus["update"].Status == v1beta1.ExecutionComplete && i.Spec.PlanExecution.UID == ""
	})
	l.Object(t, lab.Pods, d.ns, "db-0", "to be another one, and ready", func(obj *unstructured.Unstructured) bool {
		return obj != nil && obj.GetUID() != before.UID && podReady(obj)
	})
	if got := d.sql(t, "SELECT @@max_connections"); got != "37" {
		t.Errorf("max_connections is %s, want 37", got)
	}
	d.rows(t, "1=one,2=two,3=three,4=four")

	kubectl(t, l, "", "delete", "pod", "backups", "-n", d.ns, "--wait=false")
	kubectl(t, l, "", "delete", "instance", "db", "-n", d.ns, "--timeout=60s")
	l.Object(t, lab.Claims, d.ns, "data-db-0", "to be gone, as volumeOnDelete says", func(obj *unstructured.Unstructured) bool { return obj == nil })
}

func podReady(pod *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
			return true
		}
	}
	return false
}

// killedInBackup kills the executor while a backup waits for a table that the test has locked. There is one job, one pod
// and one dump in the end, and the dump is whole.
func killedInBackup(t *testing.T, d database) {
	t.Helper()
	d.sql(t, "INSERT INTO shop.items VALUES (4,'four')")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	jobs, err := d.l.Kube.BatchV1().Jobs(d.ns).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer jobs.Stop()
	pods, err := d.l.Kube.CoreV1().Pods(d.ns).Watch(ctx, metav1.ListOptions{LabelSelector: "app=db-backup"})
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop()

	held := make(chan error, 1)
	go func() {
		_, err := d.l.Cluster.KubectlAs(ctx, cluster.Admin, nil, "exec", "-n", d.ns, "db-0", "--", "mariadb", "--no-defaults", "--socket=/tmp/mariadb.sock", "--user=root",
			"--execute=LOCK TABLES shop.items WRITE; SELECT SLEEP(600)")
		held <- err
	}()
	holder := d.session(t, "INFO = 'SELECT SLEEP(600)'")
	pe, err := d.l.Kudo.KudoV1beta1().Instances(d.ns).CreatePlan(t.Context(), "db", &v1beta1.PlanTrigger{PlanName: "backup", Parameters: map[string]string{"backupName": "killed"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d.session(t, "STATE LIKE 'Waiting for table%'")
	if err := d.l.KUDO.KillExecutor(); err != nil {
		t.Fatal(err)
	}
	if err := d.l.KUDO.StartExecutor(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := d.l.Kudo.KudoV1beta1().PlanExecutions(d.ns).Get(t.Context(), pe.Name, metav1.GetOptions{})
	if err != nil || now.Status.Status.IsTerminal() {
		t.Fatalf("the run has ended while its job waits: %v, %v", now.Status, err)
	}
	d.sql(t, "KILL CONNECTION "+holder)
	if err := <-held; err == nil {
		t.Error("the session that held the table was not ended")
	}
	d.l.Ended(t, pe, v1beta1.ExecutionComplete)
	d.l.Unlocked(t, d.ns, "db")

	seen := func(events <-chan watch.Event) int {
		uids := map[types.UID]bool{}
		for {
			select {
			case e := <-events:
				if o, ok := e.Object.(metav1.Object); ok && strings.HasPrefix(o.GetName(), "db-backup") {
					uids[o.GetUID()] = true
				}
			case <-time.After(time.Second): // what happened was sent already
				return len(uids)
			}
		}
	}
	if n := seen(jobs.ResultChan()); n != 1 {
		t.Errorf("there were %d jobs, want 1", n)
	}
	if n := seen(pods.ResultChan()); n != 1 {
		t.Errorf("there were %d pods of the job, want 1", n)
	}
	kubectl(t, d.l, backups, "apply", "-n", d.ns, "-f", "-")
	kubectl(t, d.l, "", "wait", "-n", d.ns, "--for=condition=Ready", "pod/backups", "--timeout=120s")
	if got := kubectl(t, d.l, "", "exec", "-n", d.ns, "backups", "--", "ls", "-A", "/backups"); got != "killed.sql\nlatest.sql" {
		t.Errorf("the backups are %q", got)
	}
	d.sql(t, "DROP DATABASE shop")
	d.plan(t, "restore", "-p", "backupName=killed")
	d.rows(t, "1=one,2=two,3=three,4=four")
}

// session waits for a session of the server and returns its number.
func (d database) session(t *testing.T, where string) (id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	for id == "" {
		if ctx.Err() != nil {
			t.Fatalf("no session of the server has %s: %s", where, d.sql(t, "SHOW FULL PROCESSLIST"))
		}
		id = d.sql(t, "SELECT ID FROM information_schema.PROCESSLIST WHERE "+where+" LIMIT 1")
	}
	return id
}
