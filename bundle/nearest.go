// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import "strings"

// nearest returns the known name that somebody may have meant, or "" if none resembles what was written. It is sure of a name
// that a slip of the finger turns into what was written: one letter in names of up to five, two in longer ones. It is not
// sure of a name that is part of what was written, or the other way round: version may be a word of its own.
func nearest(written string, known []string) (name string, sure bool) {
	least := 0
	letters := plain(written)
	for _, candidate := range known {
		other := plain(candidate)
		d := distance(letters, other)
		within := len(other) >= 4 && strings.Contains(letters, other) || len(letters) >= 4 && strings.Contains(other, letters)
		slip := d <= 1 && len(other) > 1 || d == 2 && min(len(letters), len(other)) > 5 && !within
		if slip && !sure || (slip || within && !sure) && (name == "" || d < least) {
			name, sure, least = candidate, slip, d
		}
	}
	return name, sure
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
