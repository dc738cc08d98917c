package curator

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/mechanism/stream"
	"dither/privacy"
)

// TestStreamsByMatrices: a stream that is declared with a matrix measures by it, and by no other: its sensitivity is
// recorded, its releases give the counts, and a matrix that is missing or changed is refused by name, until it is back.
// Its file holds nothing else.
func TestStreamsByMatrices(t *testing.T) {
	h := newStreamHome(t)
	rows := make([][]int64, 9)
	for i := range rows {
		for j := range i {
			rows[i] = append(rows[i], int64(1<<20/(i-j+1)-j))
		}
		rows[i] = append(rows[i], 1<<21)
	}
	matrix := must[*stream.Factor](t)(stream.NewFactor(rows))
	d := h.declaration()
	d.Matrix, d.PerPeriod, d.Decay = matrix, 1, "0.50"
	e, err := h.owner.ExplainStream(d, StreamOptions{})
	if err != nil || e.Decay != "0.5" || !(e.Expected[8].Decayed > 0) || !(e.Expected[8].Decayed < e.Expected[8].Total) {
		t.Fatalf("%+v, %v", e, err)
	}
	if left, err := filepath.Glob(filepath.Join(h.home, "streams", "*")); err != nil || len(left) > 0 {
		t.Errorf("explaining writes %v, %v", left, err)
	}
	h.crashed("stream reserved", func() { _, _ = h.owner.CreateStream(t.Context(), d) })
	m := stream.Continual{
		Periods: 9, Cells: 2, Rows: 2, PerPeriod: 1, Neighbours: privacy.AddRemove,
		Rho: must[privacy.Rho](t)(privacy.ParseRho("20000")), Factor: matrix,
	}
	r, err := h.owner.kernel.ContinualNamed("visits_by_day")
	if err != nil || r.Mechanism.Sensitivity != m.L2Squared().String() || r.Terms.Matrix != matrix.Digest() {
		t.Fatalf("%+v, %v", r, err)
	}
	h.seal("1,1,north", "1,2,south", "2,3,north", "7,1,north", "7,2,north")
	if got := h.counts(); got != "1/0" { // one row of person 7 in a period
		t.Errorf("period 1: %s", got)
	}
	path := filepath.Join(h.home, "streams", matrix.Digest()+".factor")
	text, err := os.ReadFile(path)
	if err != nil || string(text) != string(matrix.Encode()) {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	h.clock.set(h.from.Add(25 * time.Hour))
	h.seal("7,1,north", "7,2,north", "7,3,south", "8,1,north")
	for name, change := range map[string]func() error{
		"missing": func() error { return os.Remove(path) },
		"another": func() error {
			other, err := stream.NewToeplitz([]int64{5, 4, 3, 2, 1, 1, 1, 1, 1})
			if err != nil {
				return err
			}
			return os.WriteFile(path, other.Encode(), 0o600)
		},
		"damaged": func() error { return os.WriteFile(path, text[1:], 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, err := h.advance(); codeOf(err) != CodeLedger || !strings.Contains(err.Error(), "the matrix of the stream") {
			t.Errorf("%s: advanced: %v", name, err)
		}
		if _, err := h.owner.ReadStream("visits_by_day", StreamOptions{}); codeOf(err) != CodeLedger {
			t.Errorf("%s: shown: %v", name, err)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := h.advance()
	if err != nil {
		t.Fatal(err)
	}
	// the clock is a day ahead of the versions, so these rows arrived in period 1, and count in the first open period
	if got := roundedCounts(t, report); got != "1/0 1/1" && got != "1/0 0/1" {
		t.Errorf("period 2: %s", got)
	}
	for i := range report.Cells {
		c := &report.Cells[i]
		before := 0.0
		if c.Period == 2 {
			before = report.Cells[i-1].Count.Value.Real
		}
		if want := before/2 + c.Count.Value.Real; math.Abs(c.Decayed.Value.Real-want) > 0.02 {
			t.Errorf("%+v: want %g", c.Decayed, want)
		}
	}
	got, err := h.owner.Answer(t.Context(), Question{SQL: "SELECT decayed FROM visits_by_day WHERE period = 2 AND region = 'south'"})
	if err != nil || got.Rows[0][0].Estimate.Value.Real != report.Cells[3].Decayed.Value.Real {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestStreamsWithoutMatrices: the ledger's text of a stream without the newer declarations has none of their members, so it is
// that of older homes.
func TestStreamsWithoutMatrices(t *testing.T) {
	h := newStreamHome(t)
	h.create()
	text := string(must[[]byte](t)(os.ReadFile(filepath.Join(h.home, "ledger.log"))))
	for _, member := range []string{"rows_per_period", "window", "decay", "matrix"} {
		if strings.Contains(text, `\"`+member) {
			t.Errorf("the ledger has %s", member)
		}
	}
	if !strings.Contains(text, `\"rows\":2`) {
		t.Error("the text of the stream is not found")
	}
}

// TestStreamsRefuseMatrices: matrices by which intervals would be untrue, or counts could not be computed, are refused before
// anything is spent. With the identity and ρ = 0.5, the noise of a count is a whole number of deviation 1, and its normal
// interval of 95 % would hold the count with a probability of 88 %.
func TestStreamsRefuseMatrices(t *testing.T) {
	h := newStreamHome(t)
	for name, column := range map[string][]int64{
		"coarse":     {1, 0, 0, 0, 0, 0, 0, 0, 0},
		"unsolvable": {1 << 20, 1 << 25, 0, 0, 0, 0, 0, 0, 0},
		"short":      {1 << 20, 1 << 19},
	} {
		d, want := h.declaration(), CodeUsage
		if name == "unsolvable" {
			want = CodePolicy
		}
		d.Matrix = must[*stream.Factor](t)(stream.NewToeplitz(column))
		if _, err := h.owner.CreateStream(t.Context(), d); codeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := h.owner.kernel.ContinualNamed(d.Name); err != nil || r != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	h.create()
}
