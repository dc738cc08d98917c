package cli

import (
	"os"
	"os/exec"
	"testing"

	"dither/audit"
	"dither/internal/engine/postgres/pgtest"
	"dither/internal/timing"
)

// A question that makes 4⁹ rows of one person's four fails the test of equivalence: the lower bound on its shift, over
// as many repetitions as a budget pays for, is beyond what may be told. The machine may be busy, so there are up to six
// attempts of 30 pairs. Of alike homes an attempt would say so with probability 0.001. The long form has both engines.
func TestTimingSeesWhatIsPlanted(t *testing.T) {
	o := timing.Options{Rows: 100, Pairs: 20, Doors: []timing.Door{timing.Library}, Classes: []string{timing.Planted}, Planted: true}
	if !exceeds(t, o) {
		t.Error("the planted question was not seen")
	}
}

// exceeds reports that a class is beyond what may be told, in one of a few attempts.
func exceeds(t *testing.T, o timing.Options) bool {
	for range 8 {
		r, err := timing.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Classes[0]
		t.Logf("%s: shift %v, σ %v, d %.2g to %.2g, %v", r.Engine, c.Shift, c.Sigma, c.AtLeast, c.AtMost, r.Load)
		if c.AtLeast*10 > audit.MostTold { // at a ratio of 100
			return true
		}
	}
	return false
}

// timingServer is an environment variable that holds the URL of the tests' server.
func timingServer(t *testing.T) string {
	t.Setenv("DITHER_TEST_TIMING", pgtest.Start(t).Database(t))
	return "DITHER_TEST_TIMING"
}

// The equivalence of times, in its long form: at 100, 20,000 and a million rows, on both engines, by both doors (a million
// rows in ten pairs through the library alone), the planted question is seen, alike homes are not told apart (of 30 pairs each that would be chance with probability 0.01
// in all), and no class is called shown that was not: 30 pairs show none. Figures of longer runs are in
// docs/explanation/timing.md. DITHER_LONG=1 runs it, a quarter of an hour.
func TestTimingLong(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("DITHER_LONG=1 runs it: a quarter of an hour")
	}
	program, err := exec.LookPath("dither")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"", timingServer(t)} {
		for _, rows := range []int64{100, 20_000, 1_000_000} {
			o := timing.Options{
				Rows: rows, Pairs: 30, Doors: []timing.Door{timing.Library, timing.Command}, Program: []string{program}, Postgres: server, Seed: 1,
				Classes: []string{timing.Control, "count", "worst-exp"},
			}
			if rows == 1_000_000 {
				o.Doors, o.Pairs = o.Doors[:1], 10
			}
			r, err := timing.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Classes {
				shown, exceeded := c.AtMost*10 <= audit.MostTold, c.AtLeast*10 > audit.MostTold // at a ratio of 100
				if shown || c.Name == timing.Control && exceeded {
					t.Errorf("%s, %d rows, %s (%s): %+v", r.Engine, rows, c.Name, c.Door, c.Clock)
				}
			}
			t.Logf("%s, %d rows: %+v", r.Engine, rows, r.Classes)
			o.Planted, o.Classes, o.Doors, o.Pairs = true, []string{timing.Planted}, o.Doors[:1], 60
			if rows == 100 && !exceeds(t, o) {
				t.Errorf("server %q, %d rows: the planted question was not seen", server, rows)
			}
		}
	}
}

// What is measured are legal questions, as dear as they may be, and the planted one is not legal. The generated ones
// are the same for one seed, and others for another.
func TestTimingQuestions(t *testing.T) {
	sql := map[uint64]string{}
	for _, seed := range []uint64{1, 2} {
		all, limit, err := timing.Legal(t.Context(), t.TempDir(), seed)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := timing.Legal(t.Context(), t.TempDir(), seed)
		if err != nil {
			t.Fatal(err)
		}
		most := int64(0)
		for i, q := range all {
			if q.Steps <= 0 || q.Steps > limit || q != again[i] {
				t.Errorf("%s: %d steps of %d", q.Name, q.Steps, limit)
			}
			most = max(most, q.Steps)
			sql[seed] += q.SQL
		}
		if float64(most) < 0.8*float64(limit) || len(all) != len(timing.Names(false))-1 {
			t.Errorf("the dearest of %d questions has %d steps of %d", len(all), most, limit)
		}
	}
	if sql[1] == sql[2] {
		t.Error("another seed gives the same questions")
	}
}
