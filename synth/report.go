package synth

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"dither/internal/splitmix"
	"dither/synth/model"
)

// Report says how near synthetic rows are to what was measured. It is computed from released numbers, so it is free.
type Report struct {
	Result    *Result
	Marginals []MarginalReport
	Columns   []ColumnReport
	// Association is Cramér's V of each two columns in the synthetic rows, from 0 to 1. NaN: the pair has too many
	// cells.
	Association [][]float64
	Measured    [][]bool // by pair of columns: one measured marginal has both
	Limits      []string // what the table must not be used for
	Counted     int64    // the synthetic rows that the report counts
}

// MarginalReport is a measured marginal, with total variation distances from 0 to 1.
type MarginalReport struct {
	Columns  []string
	Cells    int
	StdDev   float64 // of the noise of a cell
	Expected float64 // between measured and real cells, from the noise alone
	Apart    float64 // between measured and synthetic cells
	// Estimated is an estimate of the distance between synthetic and real cells; see estimated.
	Estimated float64
}

// ColumnReport is a column by itself.
type ColumnReport struct {
	Name      string
	Labels    []string
	Measured  []float64 // shares, with noise: of the measured marginal with the least noise for this column
	Margin    float64   // of a measured share, at a confidence of 95 %
	Synthetic []float64 // shares
}

// mostPairCells bounds the cells of a pair that the report counts.
const mostPairCells = 1 << 18

// Report counts the synthetic rows, at most the first [model.Batch] of them, and compares them with the measurements.
func (r *Result) Report() (*Report, error) {
	d := len(r.Plan.Columns)
	out := &Report{Result: r, Limits: r.limits(), Association: grid[float64](d), Measured: grid[bool](d)}
	var sets [][]int // first the columns, then all pairs, then the measured marginals
	for i := range d {
		sets = append(sets, []int{i})
	}
	for i := range d {
		for j := range i {
			sets = append(sets, []int{j, i})
		}
	}
	pairs := len(sets)
	for _, m := range r.measured {
		sets = append(sets, m.Attributes)
	}
	var counts [][]float64
	var err error
	if counts, out.Counted, err = r.counted(sets, pairs); err != nil {
		return nil, err
	}
	at := d
	for i := range d {
		for j := range i {
			v := math.NaN()
			if counts[at] != nil {
				v = cramer(counts[at], r.Plan.Columns[j].Cells, r.Plan.Columns[i].Cells)
			}
			out.Association[i][j], out.Association[j][i] = v, v
			at++
		}
	}
	total := max(r.model.Total(), 1)
	for k, m := range r.measured {
		if len(m.Attributes) == 0 {
			continue
		}
		for _, a := range m.Attributes {
			for _, b := range m.Attributes {
				out.Measured[a][b] = true
			}
		}
		out.Marginals = append(out.Marginals, r.compared(m, counts[pairs+k], total))
	}
	for i, c := range r.Plan.Columns {
		out.Columns = append(out.Columns, r.column(i, c, counts[i], total))
	}
	return out, nil
}

func grid[T any](n int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, n)
	}
	return out
}

var errEnough = errors.New("enough rows")

// counted returns the shares of the cells of marginals in the rows. Those of two columns with too many cells are nil.
func (r *Result) counted(sets [][]int, pairs int) (out [][]float64, counted int64, err error) {
	out = make([][]float64, len(sets))
	for k, set := range sets {
		cells := 1.0
		for _, a := range set {
			cells *= float64(r.Plan.Columns[a].Cells)
		}
		if k >= pairs || len(set) < 2 || cells <= mostPairCells {
			out[k] = make([]float64, int(cells))
		}
	}
	each := r.drawn
	if each == nil {
		each = r.sampled
	}
	rows := 0
	err = each(func(row []int) error {
		for k, set := range sets {
			if out[k] == nil {
				continue
			}
			cell := 0
			for _, a := range set {
				cell = cell*r.Plan.Columns[a].Cells + row[a]
			}
			out[k][cell]++
		}
		if rows++; rows == model.Batch {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, err
	}
	for k := range out {
		for i := range out[k] {
			out[k][i] /= max(float64(rows), 1)
		}
	}
	return out, int64(rows), nil
}

// sampled calls yield with the cells of each row of the model.
func (r *Result) sampled(yield func(cells []int) error) error {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Release, r.Plan.SQL) // a hash accepts every write
	words := splitmix.At(splitmix.Mix(h.Sum64()))
	row := make([]int, len(r.Plan.Columns))
	return r.model.Sample(r.Rows, model.Rounded, &words, func(columns [][]int32) error {
		for at := range columns[0] {
			for i, c := range columns {
				row[i] = int(c[at])
			}
			if err := yield(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// compared compares a measured marginal with the shares of the synthetic rows.
func (r *Result) compared(m model.Measurement, shares []float64, total float64) MarginalReport {
	out := MarginalReport{Columns: r.Plan.names(m.Attributes), Cells: len(m.Values), StdDev: math.Sqrt(m.Variance)}
	squares, apart := 0.0, 0.0
	for i, v := range m.Values {
		e := v - total*shares[i]
		squares += e * e
		apart += math.Abs(e)
	}
	distance := func(deviation float64) float64 {
		return min(1, math.Sqrt(2/math.Pi)*deviation*float64(out.Cells)/2/total)
	}
	out.Expected, out.Apart = distance(out.StdDev), min(1, apart/2/total)
	out.Estimated = distance(estimated(squares, m.Variance, out.Cells))
	return out
}

// estimated returns an estimate of the root of the mean squared difference between synthetic and real cells. squares is
// the squared distance between measured and synthetic cells.
//
// For k cells with noise of variance σ², the distance is Stein's unbiased estimate, squares − kσ² + 2σ²·f, where f is
// the number of degrees of freedom that the fit has. A fit that is right otherwise has squares near (k − f)σ², which
// gives f, and then kσ² − squares. If squares is above kσ², f is taken as 0. The result is at least the standard error
// of this estimate.
func estimated(squares, variance float64, cells int) float64 {
	k := float64(cells)
	return math.Sqrt(max(math.Abs(squares-k*variance), variance*math.Sqrt(2*k)) / k)
}

// column compares a column with the measured marginal that has the least noise for it.
func (r *Result) column(place int, c *Column, synthetic []float64, total float64) ColumnReport {
	out := ColumnReport{Name: c.Name, Synthetic: synthetic}
	w := newCells(c)
	for i, text := range w.texts {
		switch {
		case w.null[i]:
			text = "NULL"
		case c.Binned && w.ends[i][0] == w.ends[i][1]:
			if text = fmt.Sprintf("%.6g", w.ends[i][0]); c.whole && c.Type != "integer" {
				text = c.written(w.whole[i][0])
			}
		case c.Binned && c.whole && c.Type != "integer":
			text = c.written(w.whole[i][0]) + " – " + c.written(w.whole[i][1])
		case c.Binned:
			text = fmt.Sprintf("%.6g – %.6g", w.ends[i][0], w.ends[i][1])
		}
		out.Labels = append(out.Labels, text)
	}
	least := math.Inf(1)
	for _, m := range r.measured {
		k := slices.Index(m.Attributes, place)
		if k < 0 {
			continue
		}
		variance := m.Variance * float64(len(m.Values)) / float64(c.Cells)
		if variance >= least {
			continue
		}
		least, out.Measured = variance, make([]float64, c.Cells)
		after := 1
		for _, a := range m.Attributes[k+1:] {
			after *= r.Plan.Columns[a].Cells
		}
		for i, v := range m.Values {
			out.Measured[i/after%c.Cells] += v / total
		}
		out.Margin = 1.96 * math.Sqrt(variance) / total
	}
	return out
}

// cramer returns Cramér's V of a table of shares.
func cramer(shares []float64, rows, columns int) float64 {
	a, b := make([]float64, rows), make([]float64, columns)
	for i, s := range shares {
		a[i/columns] += s
		b[i%columns] += s
	}
	sum, left, right := -1.0, 0, 0
	for i, s := range shares {
		if s > 0 {
			sum += s * s / a[i/columns] / b[i%columns]
		}
	}
	for _, v := range a {
		if v > 0 {
			left++
		}
	}
	for _, v := range b {
		if v > 0 {
			right++
		}
	}
	if least := min(left, right) - 1; least > 0 {
		return min(1, math.Sqrt(max(0, sum)/float64(least)))
	}
	return 0
}

// limits says what the table must not be used for.
func (r *Result) limits() []string {
	out := []string{
		"Confidence intervals and tests: software takes the rows for people, and ignores the noise. " +
			"Option --draws writes several tables that have intervals.",
		"Statistics of columns that no measured marginal has together: their relation is that of the model.",
		"Rare combinations: a cell with fewer rows than the noise has an unknown count, and its rows may have no real counterpart.",
		"Finding, or ruling out, a person: no row is a person's.",
		"Decisions about one person, and counts that must be exact: a query has those, with a margin of error.",
	}
	if len(r.Plan.constraints) > 0 {
		out = append(out, "Checking the constraints: all rows satisfy them by construction, whether the real rows do or not.")
	}
	for _, c := range r.Plan.Columns {
		if c.Binned {
			out = append(out, "Relations within bins: a number depends on other columns by its bin alone. Within the bin, it has the shape of all rows.")
			break
		}
	}
	if r.Plan.inner > 0 {
		out = append(out, "Relations between two rows of one person: they share the person and the order, and nothing else.")
	}
	if len(r.Plan.Omitted) > 0 {
		out = append(out, "Columns that were left out, and the rows that belong to one person.")
	}
	return out
}
