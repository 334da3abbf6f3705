// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package node

import (
	"testing"

	"kudo.dev/kudo/test/cluster"
)

const reader = `
apiVersion: v1
kind: Pod
metadata: {name: reader}
spec:
  containers:
  - name: main
    image: ` + cluster.BusyboxImage + `
    command: [sh, -c, "echo started; exec sleep 3600"]
    readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: alias}
spec:
  ports: [{port: 1}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: fails}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: ` + cluster.BusyboxImage + `, command: ["false"]}]
`

// TestE2ENode: what the other tests build on. A pod runs, prints and fails as it does elsewhere, and reaches kube-apiserver
// and the cluster's names.
func TestE2ENode(t *testing.T) {
	l := enter(t)
	ns := l.Namespace(t)
	kubectl(t, l, reader, "apply", "-n", ns, "-f", "-")
	kubectl(t, l, "", "wait", "-n", ns, "--for=condition=Ready", "pod/reader", "--timeout=120s")
	kubectl(t, l, "", "wait", "-n", ns, "--for=condition=Failed", "job/fails", "--timeout=120s")
	if out := kubectl(t, l, "", "logs", "-n", ns, "reader"); out != "started" {
		t.Errorf("the log of the pod is %q", out)
	}
	if out := kubectl(t, l, "", "exec", "-n", ns, "reader", "--", "cat", "/proc/1/comm"); out != "sleep" {
		t.Errorf("the first process of the pod is %q", out)
	}
	address := kubectl(t, l, "", "get", "service", "-n", ns, "alias", "-o", "jsonpath={.spec.clusterIP}")
	kubectl(t, l, "", "exec", "-n", ns, "reader", "--", "sh", "-c", "nslookup alias."+ns+".svc.cluster.local | grep -qF "+address)
	// Through the Service kubernetes. Without TLS there is but this answer, and no TLS in the image.
	kubectl(t, l, "", "exec", "-n", ns, "reader", "--", "sh", "-c",
		`printf 'GET / HTTP/1.0\r\n\r\n' | nc -w 10 kubernetes.default.svc.cluster.local 443 | grep -q "HTTP request to an HTTPS server"`)
}
