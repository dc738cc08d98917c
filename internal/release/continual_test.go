package release

import (
	"math/big"
	"testing"
	"time"

	"dither/internal/seal"
	"dither/mechanism/stream"
)

// TestAdvancesFitEntries: the releases of one advance are limited, so that the ledger can record them. Later advances
// release the rest, and count the rows of a version in its period.
func TestAdvancesFitEntries(t *testing.T) {
	from := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	now := from.Add(5000 * time.Hour)
	c := &Continual{look: &Look{tables: []seal.Version{{Number: 2, Sealed: from.Add(100 * time.Hour)}}}}
	r := &ContinualRecord{Terms: ContinualTerms{Every: "hour", From: from, Periods: 4096, Cells: 4096}}
	at := 0
	for advances := 1; ; advances++ {
		got, err := c.closes(r, stream.Header{Version: 1}, now, 0)
		if err != nil || (got.until-len(r.Released))*r.Terms.Cells > mostReleases {
			t.Fatalf("%+v, %v", got, err)
		}
		at = max(at, got.at)
		r.Released = r.Released[:0:0]
		r.Released = append(r.Released, make([][]*big.Int, got.until)...)
		if got.until == r.Terms.Periods {
			if advances != 64 {
				t.Errorf("%d advances", advances)
			}
			break
		}
		if at > 0 {
			c.look.tables[0].Number = 1 // read
		}
	}
	if at != 101 {
		t.Errorf("the rows count in period %d", at)
	}
}
