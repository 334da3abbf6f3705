// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import "strings"

// nearest returns the known name that somebody may have meant, or "" if none resembles what was written.
func nearest(written string, known []string) string {
	best, least := "", 0
	letters := plain(written)
	for _, candidate := range known {
		other := plain(candidate)
		d := distance(letters, other)
		similar := d <= max(2, len(other)/3) && d < len(other) ||
			len(other) >= 4 && strings.Contains(letters, other) || len(letters) >= 4 && strings.Contains(other, letters)
		if similar && (best == "" || d < least) {
			best, least = candidate, d
		}
	}
	return best
}

// plain leaves letters and digits only, in lower case: display-name is displayName.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// distance is how many letters have to be added, removed, replaced or swapped with their neighbour to make b of a.
// Long texts are cut: nobody meant a field by them.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
