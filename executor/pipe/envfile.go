// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"bytes"
	"fmt"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// parseEnv reads lines of KEY=VALUE, as kubectl create secret --from-env-file does: blank lines and lines that begin with # are
// skipped, blanks before a key too, and the value is all that follows the first equals sign. Errors name lines and repeat nothing of them:
// also what stands where a key should may be secret.
func parseEnv(content []byte) (map[string]string, error) {
	out, lines := map[string]string{}, map[string]int{}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimLeft(strings.TrimSuffix(line, "\r"), " \t\v\f")
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return nil, fmt.Errorf("line %d has no equals sign; each line has to be KEY=VALUE, a comment or blank", i+1)
		}
		if messages := utilvalidation.IsEnvVarName(key); len(messages) > 0 {
			return nil, fmt.Errorf("line %d: what stands before the equals sign cannot be the name of an environment variable: %s", i+1, strings.Join(messages, "; "))
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("line %d sets what line %d has set already", i+1, lines[key])
		}
		out[key], lines[key] = value, i+1
	}
	return out, nil
}
