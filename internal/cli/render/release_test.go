package render

import (
	"strings"
	"testing"

	"dither/curator"
)

func TestFooterStatesWhatBoundsCutInEachQuestion(t *testing.T) {
	r := &curator.Release{Questions: []*curator.Measured{
		{ID: "r3", SQL: "SELECT a", Truncation: &curator.Truncation{
			Unit: "id", Rows: 1, Units: &curator.Estimate{High: &curator.Number{Real: 7}}, Verdict: curator.NoneSeen,
		}},
		{ID: "r5", SQL: "SELECT b"},
	}}
	const want = "\n  truncation: no units (id) with more than 1 row are seen: at most 7 have them\nmeasured r5: "
	if got := ReleaseTable(r); !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestFreeAnswersSayWhyIntervalsAreMissing(t *testing.T) {
	r := &curator.Release{Free: true, Columns: []curator.Column{{Name: "most", NoInterval: "it is chosen among noisy numbers"}}}
	if got := ReleaseTable(r); !strings.Contains(got, "\nmost has no interval: it is chosen among noisy numbers\nfree: ") {
		t.Errorf("got %q", got)
	}
}
