package query

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A place that was counted from one nearby is the one that is counted from the beginning.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 40).Draw(t, "pieces") {
			piece := rapid.SampledFrom([]string{"a", "é", "€", "\n", "\r\n", "𝄞", "\xff", "\xe2\x82", "x\n\ny"}).Draw(t,
				"piece")
			b.WriteString(strings.Repeat(piece, rapid.IntRange(1, 90).Draw(t, "times")))
		}
		src, p := text(b.String()), &places{}
		for range 30 {
			offset := rapid.IntRange(-1, len(src)+1).Draw(t, "offset")
			if got, want := p.pos(src, offset), src.pos(offset); got != want {
				t.Fatalf("offset %d of %q: %v, want %v", offset, src, got, want)
			}
		}
	})
}
