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

func TestCSVAndPicturesStateWhatBoundsCut(t *testing.T) {
	number := func(x float64) *curator.Number { return &curator.Number{Real: x} }
	cut := &curator.Truncation{
		Unit: "id", Rows: 1, Units: &curator.Estimate{Value: number(50), Low: number(40), High: number(60)},
		Verdict: curator.Cuts, Advice: "ask with more rows",
	}
	columns := []curator.Column{{Name: "truncation", Kind: curator.Key}}
	rows := []curator.Row{{{Key: "a"}}, {{Key: "b"}}}
	const words = "warning: the bounds cut 50 ± 10 units (id): they have more than 1 row"
	one := &curator.Release{Columns: columns, Rows: rows, Truncation: cut}
	two := &curator.Release{Columns: columns, Rows: rows, Questions: []*curator.Measured{
		{ID: "r3", Truncation: cut}, {ID: "r5"}, {ID: "r7", Truncation: cut},
	}}
	for want, r := range map[string]*curator.Release{words: one, "r3: " + words + ". r7: " + words: two} {
		for i, record := range ReleaseRecords(r) {
			last := want
			if i == 0 {
				last = "truncation_"
			}
			if len(record) != 2 || record[1] != last {
				t.Errorf("record %d is %q, want %q at its end", i, record, last)
			}
		}
		if got := ChartOf(r).Caption; !strings.HasPrefix(got, want+". ") {
			t.Errorf("the caption is %q", got)
		}
	}
	if cut.Advice == "" {
		t.Error("the estimate has lost its advice")
	}
	if got := ReleaseRecords(&curator.Release{Columns: columns, Rows: rows}); len(got[0]) != 1 {
		t.Errorf("without an estimate: %q", got)
	}
}
