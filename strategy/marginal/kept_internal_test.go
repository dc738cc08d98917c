package marginal

import (
	"math"
	"slices"
	"testing"

	"dither/strategy"
)

// copied returns a copy of recorded matrices.
func copied(rows [][][]int64) (out [][][]int64) {
	for _, of := range rows {
		var own [][]int64
		for _, row := range of {
			own = append(own, slices.Clone(row))
		}
		out = append(out, own)
	}
	return out
}

// TestRecordedMatrices takes matrices that were rounded otherwise from a record. The plan then measures these, and states
// their errors. Records that do not measure every difference of the values are ignored: their estimates would be wrong.
func TestRecordedMatrices(t *testing.T) {
	d, err := NewDomain(
		Attribute{"age", 8, Ranges}, Attribute{"sex", 2, Values}, Attribute{"day", 8, Ranges}, Attribute{"hour", 5, Prefixes},
	)
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Ways(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	plan := func() *Plan { return w.Choose(strategy.Rho).Plan }
	p := plan()
	rows := copied(p.rows())
	if len(rows) != 4 || rows[0] == nil || rows[1] != nil || rows[2] != nil || rows[3] == nil {
		t.Fatalf("the matrices of age and hour are recorded once: %v", rows)
	}
	rows[0][2][1] += 1 << 20
	rows[0][2][3] -= 1 << 20
	p.restore(keptShares{Name: p.Name, Shares: slices.Clone(p.shares), Rows: copied(rows)})
	if got := p.rows(); got[0][2][1] != rows[0][2][1] || p.factors[2] != p.factors[0] || p.factors[3].rows[0][0] != rows[3][0][0] {
		t.Error("the recorded matrix was not taken")
	}
	if before := plan(); !(p.RMSE > before.RMSE) || p.RMSE > 1.5*before.RMSE || math.IsNaN(p.Maximum) {
		t.Errorf("the rmse is %g, and that of the best matrix %g", p.RMSE, before.RMSE)
	}
	for name, spoil := range map[string]func([][][]int64) [][][]int64{
		"a sum":       func(r [][][]int64) [][][]int64 { r[0][0][0]++; return r },
		"a rank":      func(r [][][]int64) [][][]int64 { clear(r[3][1]); r[3][2] = slices.Clone(r[3][3]); return r },
		"a size":      func(r [][][]int64) [][][]int64 { r[3] = r[3][1:]; return r },
		"a row":       func(r [][][]int64) [][][]int64 { r[3][1] = nil; return r },
		"a magnitude": func(r [][][]int64) [][][]int64 { r[3][0][0] += 1 << 62; r[3][0][1] -= 1 << 62; return r },
		"a matrix":    func(r [][][]int64) [][][]int64 { r[3] = nil; return r },
		"everything":  func([][][]int64) [][][]int64 { return nil },
	} {
		p := plan()
		want := copied(p.rows())
		p.restore(keptShares{Name: p.Name, Shares: slices.Clone(p.shares), Rows: spoil(copied(rows))})
		for i, of := range p.rows() {
			if !slices.EqualFunc(of, want[i], slices.Equal) {
				t.Errorf("%s: the matrix of attribute %d changed", name, i)
			}
		}
	}
}
