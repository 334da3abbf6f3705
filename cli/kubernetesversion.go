// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// checkKubernetesVersion refuses an operator that needs a newer Kubernetes than the cluster has. Only the first two
// numbers count, as in KUDO: distributions have their own third number.
func checkKubernetesVersion(needed, server string) error {
	want, err := semver.NewVersion(needed)
	if err != nil {
		return fmt.Errorf("unable to parse operators kubernetes version: %q in operator.yaml is not a version such as \"1.25.0\": %w", needed, err)
	}
	have, err := semver.NewVersion(server)
	if err != nil {
		return fmt.Errorf("the cluster has the version %q, which cannot be compared with %s, the oldest that the operator supports: %w", server, needed, err)
	}
	if have.Major() < want.Major() || have.Major() == want.Major() && have.Minor() < want.Minor() {
		return fmt.Errorf("expected kubernetes version of %s is not supported with version: %s; install the operator on a newer cluster, or an older version of it", want, have)
	}
	return nil
}
