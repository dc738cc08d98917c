package synth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dither/curator"
)

// classifier is a logistic regression on groups of cells, with whole coefficients, so that SQL computes its scores
// exactly.
type classifier struct {
	e      *exam
	group  [][]int // by column: the group of each cell
	weight [][]int // by column and group
	scores []int   // of the synthetic rows
}

const (
	mostGroups   = 16
	scoreUnit    = 100 // of a coefficient of 1
	trainSteps   = 30
	ridge        = 1.0
	mostTraining = 200_000 // rows
)

// train fits the classifier to the synthetic rows.
func (e *exam) train() (*classifier, error) {
	out := &classifier{e: e}
	positives := 0
	for _, t := range e.truth {
		if t {
			positives++
		}
	}
	if positives == 0 || positives == len(e.truth) {
		return nil, usage("name a value that some rows have, and others have not: --target smoker=true",
			"%d of %d synthetic rows have %s = %s", positives, len(e.truth), e.request.Target, e.request.Positive)
	}
	first := make([]int, len(e.columns)) // the first coefficient of a column; 0 is the constant
	n := 1
	for i := range e.columns {
		groups := e.grouped(i)
		out.group, first[i] = append(out.group, groups), n
		if i != e.target {
			n += slices.Max(groups) + 1
		}
	}
	rows := min(len(e.truth), mostTraining)
	beta := make([]float64, n)
	at := make([]int, 0, len(e.columns))
	active := func(row int) []int {
		at = append(at[:0], 0)
		for i := range e.columns {
			if i != e.target {
				at = append(at, first[i]+out.group[i][e.codes[i][row]])
			}
		}
		return at
	}
	for range trainSteps { // Newton's method
		slope, curve := make([]float64, n), make([]float64, n*n)
		for k := range beta {
			slope[k], curve[k*n+k] = -ridge*beta[k], ridge
		}
		for row := range rows {
			at := active(row)
			x := 0.0
			for _, k := range at {
				x += beta[k]
			}
			p := 1 / (1 + math.Exp(-x))
			y := 0.0
			if e.truth[row] {
				y = 1
			}
			for _, k := range at {
				slope[k] += y - p
				for _, l := range at {
					curve[k*n+l] += p * (1 - p)
				}
			}
		}
		step, largest := solve(curve, slope), 0.0
		for k, s := range step {
			beta[k] += s
			largest = max(largest, math.Abs(s))
		}
		if largest < 1e-6 {
			break
		}
	}
	for i := range e.columns {
		var weights []int
		if i != e.target {
			for g := range slices.Max(out.group[i]) + 1 {
				weights = append(weights, int(math.Round(scoreUnit*beta[first[i]+g])))
			}
		}
		out.weight = append(out.weight, weights)
	}
	for row := range e.truth {
		score := 0
		for i := range e.columns {
			if i != e.target {
				score += out.weight[i][out.group[i][e.codes[i][row]]]
			}
		}
		out.scores = append(out.scores, score)
	}
	return out, nil
}

// grouped divides the cells of a column into at most mostGroups groups: ranges of numbers with similar numbers of
// synthetic rows, or the most frequent values, and the others together. NULL is a group of its own.
func (e *exam) grouped(column int) []int {
	c := e.columns[column]
	out := make([]int, c.Cells)
	counts := make([]int, c.Cells)
	for _, code := range e.codes[column] {
		counts[code]++
	}
	order := make([]int, 0, c.Cells)
	for cell := range c.Cells {
		if !e.writers[column].null[cell] {
			order = append(order, cell)
		}
	}
	last := 0
	if c.Type == "text" || c.Type == "boolean" {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
		for i, cell := range order {
			out[cell] = min(i, mostGroups-2)
			last = max(last, out[cell])
		}
	} else {
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(e.writers[column].ranges[a].Low, e.writers[column].ranges[b].Low),
				cmp.Compare(e.writers[column].ranges[a].High, e.writers[column].ranges[b].High))
		})
		passed := 0
		for i, cell := range order {
			if i > 0 && passed*(mostGroups-1)/len(e.truth) > last && last < mostGroups-2 {
				last++
			}
			out[cell] = last
			passed += counts[cell]
		}
	}
	for cell, null := range e.writers[column].null {
		if null {
			out[cell] = last + 1
		}
	}
	return out
}

// buckets returns the beginning and the width of buckets of scores. Most synthetic scores are in them, and the outer
// ones have the others.
func (m *classifier) buckets() (from, width int) {
	sorted := slices.Sorted(slices.Values(m.scores))
	tail := len(sorted) / 200
	from = sorted[tail]
	return from, max(1, (sorted[len(sorted)-1-tail]-from)/examBuckets+1)
}

// bucket returns the SQL of the bucket of a row.
func (m *classifier) bucket(from, width int) string {
	var terms []string
	for i, c := range m.e.columns {
		if i != m.e.target {
			terms = append(terms, m.term(i, c))
		}
	}
	return fmt.Sprintf("LEAST(GREATEST(FLOOR((%s - (%d)) / %d), 0), %d)", strings.Join(terms, " + "), from, width, examBuckets-1)
}

// term returns the SQL of a column's part of the score.
func (m *classifier) term(column int, c *Column) string {
	w, name := m.e.writers[column], curator.SQLName(c.Name)
	null := 0
	groups := map[int][]int{}
	for cell, g := range m.group[column] {
		if w.null[cell] {
			null = m.weight[column][g]
			continue
		}
		groups[g] = append(groups[g], cell)
	}
	var conditions []string
	for g := range slices.Max(m.group[column]) + 1 {
		if len(groups[g]) == 0 {
			continue
		}
		var condition string
		switch c.Type {
		case "boolean":
			if condition = name; w.texts[groups[g][0]] != "true" {
				condition = "NOT " + name
			}
		case "text":
			var texts []string
			for _, cell := range groups[g] {
				texts = append(texts, curator.SQLText(w.texts[cell]))
			}
			condition = name + " IN (" + strings.Join(texts, ", ") + ")"
		default:
			last := groups[g][0]
			for _, cell := range groups[g] {
				if w.ranges[cell].High > w.ranges[last].High {
					last = cell
				}
			}
			condition = name + " <= " + m.upper(w, last)
		}
		conditions = append(conditions, fmt.Sprintf("WHEN %s THEN %d", condition, m.weight[column][g]))
	}
	return fmt.Sprintf("CASE %s ELSE %d END", strings.Join(conditions, " "), null)
}

// upper returns the upper end of a cell in SQL.
func (m *classifier) upper(w *cells, cell int) string {
	switch {
	case !w.of.Binned && layouts[w.of.Type] != "":
		return "'" + w.texts[cell] + "'"
	case !w.of.Binned:
		return w.texts[cell]
	case w.of.whole:
		if text := w.of.written(w.whole[cell][1]); layouts[w.of.Type] != "" {
			return "'" + text + "'"
		}
		return w.of.written(w.whole[cell][1])
	}
	return decimal(w.of.bins[cell].high)
}

// solve returns the solution of Ax = b for a positive definite A, by Cholesky's decomposition.
func solve(a, b []float64) []float64 {
	n := len(b)
	l := slices.Clone(a)
	for j := range n {
		for k := range j {
			l[j*n+j] -= l[j*n+k] * l[j*n+k]
		}
		l[j*n+j] = math.Sqrt(max(l[j*n+j], 1e-12))
		for i := j + 1; i < n; i++ {
			for k := range j {
				l[i*n+j] -= l[i*n+k] * l[j*n+k]
			}
			l[i*n+j] /= l[j*n+j]
		}
	}
	x := slices.Clone(b)
	for i := range n {
		for k := range i {
			x[i] -= l[i*n+k] * x[k]
		}
		x[i] /= l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= l[k*n+i] * x[k]
		}
		x[i] /= l[i*n+i]
	}
	return x
}
