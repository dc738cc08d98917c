// Package nearest finds the name that a mistyped one was probably meant to be.
package nearest

import "strings"

// maxWord bounds the length of compared words: the cost is the product of two lengths.
const maxWord = 64

// Name is the known name closest to word, ignoring case, or "" if none is close: at most two edits, and fewer than half
// of the name's letters.
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

// edits is the Levenshtein distance in bytes.
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
