// Package nearest suggests the known name that a mistyped word probably means.
package nearest

import "strings"

// maxWord is the longest word, in bytes, that is compared. It limits the cost of a comparison, which is the product
// of the two lengths.
const maxWord = 64

// Name returns the known name closest to word, or "" if none is close. It ignores case. A close name is at most two
// edits away, and the edits are fewer than half of its bytes.
func Name(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, least := "", 3
	for _, k := range known {
		if len(k) > maxWord {
			continue
		}
		if d := edits(strings.ToLower(word), strings.ToLower(k)); d < least && 2*d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// edits returns the Levenshtein distance between a and b, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
