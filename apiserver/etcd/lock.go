// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package etcd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// handover is how long a new process waits for an old one to finish: longer than a server takes to stop.
const handover = 20 * time.Second

// lockDir takes the folder for this process until it ends. Without it etcd would wait for another process silently and for ever.
func lockDir(ctx context.Context, dir string) (*fileutil.LockedFile, error) {
	path := filepath.Join(dir, "lock")
	var file *fileutil.LockedFile
	var lastErr error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, handover, true, func(ctx context.Context) (bool, error) {
		first := lastErr == nil
		if file, lastErr = fileutil.TryLockFile(path, os.O_WRONLY|os.O_CREATE, fileutil.PrivateFileMode); lastErr == nil {
			return true, nil
		}
		if first {
			klog.FromContext(ctx).Info("The data folder is in use by another process; waiting for it to stop", "dir", dir, "timeout", handover)
		}
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("the data folder %s is in use by another kudo-apiserver (%w): stop that first; with the embedded etcd there is one replica", dir, lastErr)
	}
	return file, nil
}
