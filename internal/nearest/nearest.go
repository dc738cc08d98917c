// Package nearest suggests the known name that a mistyped word probably means.
package nearest

import "strings"

// maxWord is the longest word, in bytes, that is compared. It limits the cost of a comparison, which is the product
// of the two lengths.
const maxWord = 64

// Name returns the known name closest to word, or "" if none is close. It ignores case. A close name is at most two
// edits away, and the edits are fewer than half of its bytes. An exchange of two neighbouring bytes is half an edit,
// because it is the most usual mistake.
func Name(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, least := "", 5
	for _, k := range known {
		if len(k) > maxWord {
			continue
		}
		if d := halfEdits(strings.ToLower(word), strings.ToLower(k)); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// halfEdits returns the least cost of changing a into b by inserted, deleted and replaced bytes, which cost 2 each, and
// by exchanges of neighbouring bytes, which cost 1. No byte is edited twice.
func halfEdits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = 2 * j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = 2 * (i + 1)
		for j := range len(b) {
			replace := row[j]
			if a[i] != b[j] {
				replace += 2
			}
			next[j+1] = min(replace, row[j+1]+2, next[j]+2)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
