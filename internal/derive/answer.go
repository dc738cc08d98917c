package derive

import (
	"math/big"
	"slices"
	"strconv"

	"dither/internal/plan"
	"dither/internal/reuse"
	"dither/internal/value"
	"dither/noise"
)

// Answer computes the rows of a plan's answer from its released numbers. It is not safe for concurrent use.
type Answer struct {
	plan     *plan.Plan // over the values of keys that rows can have
	possible *possible  // nil if every group can have rows
	measures map[*plan.Measure]*released
	noises   *noises
	index    map[*plan.Measure]int
	fits     []fit         // with grouping sets: the fit of each measure
	reader   *reuse.Reader // nil until first used
	// by grouping: estimates from earlier releases, which replace the plan's own numbers; nil if From found none
	given    []*grid
	expected []*grid // by grouping set: what expectedIn computed, which has errors and no values
	likeSets []int   // by grouping set: what likeSet returned
	foretold map[foretoldOf]Forecast
	forms    map[*plan.Post]*form // what formOf returned; a nil entry is an expression that is not linear
	whole    bool                 // counts are shown as non-negative integers
	laws     map[*plan.Measure]*noise.Combination
	joints   map[jointOf]*noise.Combination // the distributions of centred sums' errors, with the quantiles found so far
}

// New prepares the answer of a plan. It returns an error if the parameters of a noise are invalid.
func New(p *plan.Plan) (*Answer, error) { return new(Shapes).New(p) }

// New is like the function New, and reuses the shapes in s.
func (s *Shapes) New(p *plan.Plan) (*Answer, error) {
	alike, fits := &noises{}, map[string]fit{}
	shown, possible := possibleOf(p)
	p = shown
	a := &Answer{plan: p, possible: possible, measures: map[*plan.Measure]*released{}, noises: alike, index: map[*plan.Measure]int{}}
	for i, m := range p.Measures {
		r, err := alike.released(m)
		if err != nil {
			return nil, err
		}
		a.measures[m], a.index[m] = r, i
		if p.Sets != nil {
			text := alike.fitText(p, i)
			f, ok := fits[text]
			if !ok {
				if f, err = s.fit(alike, p, i); err != nil {
					return nil, err
				}
				fits[text] = f
			}
			a.fits = append(a.fits, f)
		}
	}
	return a, nil
}

// Showing returns the same answer for p, a plan that differs only in HAVING, LIMIT and OFFSET.
func (a *Answer) Showing(p *plan.Plan) *Answer {
	out := *a
	out.plan, out.reader = p, nil
	if a.possible != nil {
		out.plan, out.possible = a.possible.showing(p)
	}
	return &out
}

// Cell is one cell of a shown row: the value of a key, or an estimate with the released parts from which it was
// computed.
type Cell struct {
	Key      value.Value
	Summed   bool // the row is a sum over this key, and Key is NULL
	Estimate Estimate
	// the row's group among the released numbers, which have independent noises; −1 if the row is computed from several
	Group int
	Parts []Estimate // in the order of Answer.Parts for the output
}

// Part is a released measure from which an output is computed, with a name that is unique within the output.
type Part struct {
	Name    string
	Measure *plan.Measure
}

// Parts lists the released measures from which an output is computed. It returns nil if the output is itself a
// released measure.
func (a *Answer) Parts(o plan.Output) []Part {
	if o.Post == nil || a.Single(o) != nil {
		return nil
	}
	var out []Part
	for _, i := range aggregates(o.Post) {
		agg := a.plan.Aggregates[i]
		for _, m := range agg.Measures() {
			if !slices.ContainsFunc(out, func(p Part) bool { return p.Measure == m }) {
				out = append(out, Part{Name: partName(m, out), Measure: m})
			}
		}
	}
	return out
}

func partName(m *plan.Measure, taken []Part) string {
	name := m.Name()
	unique := name
	for i := 2; slices.ContainsFunc(taken, func(p Part) bool { return p.Name == unique }); i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	return unique
}

// Single returns the measure whose released value is the output, or nil if the output is computed.
func (a *Answer) Single(o plan.Output) *plan.Measure {
	if o.Post == nil || o.Post.Op != plan.PostAggregate {
		return nil
	}
	agg := a.plan.Aggregates[o.Post.Index]
	if ms := agg.Measures(); len(ms) == 1 && agg.Func != plan.Average && !agg.Centred() {
		return ms[0]
	}
	return nil
}

// Noise returns the distribution of the noise on each cell of a measure, in grid units.
func (a *Answer) Noise(m *plan.Measure) noise.Distribution { return a.measures[m].noise }

// aggregates returns the indices of the aggregates in p, each once.
func aggregates(p *plan.Post) []int {
	var out []int
	p.Walk(func(q *plan.Post) {
		if q.Op == plan.PostAggregate && !slices.Contains(out, q.Index) {
			out = append(out, q.Index)
		}
	})
	return out
}

// Rows computes the rows of the answer at error level alpha, 0 < alpha < 1. sums holds the released numbers by cell
// and measure. Cells are in the order of the product of the keys' values, with the last key changing fastest. For
// each cell that was chosen in advance, the interval fails to cover with probability at most alpha. HAVING, ORDER
// BY, LIMIT and OFFSET use released values only, so they choose cells by their noise. For cells chosen in this way,
// the interval may fail far more often: the largest of many empty groups is almost never within its interval.
func (a *Answer) Rows(sums [][]*big.Int, alpha float64) [][]Cell {
	var rows []*cell
	for _, c := range a.cells(sums, alpha) {
		if a.plan.Having == nil || c.condition(a.plan.Having) == isTrue {
			rows = append(rows, c)
		}
	}
	a.sort(rows)
	rows = rows[min(a.plan.Offset, int64(len(rows))):]
	if a.plan.Limit != nil {
		rows = rows[:min(*a.plan.Limit, int64(len(rows)))]
	}
	out := make([][]Cell, len(rows))
	for i, c := range rows {
		out[i] = c.outputs(alpha)
	}
	return out
}

// cells returns the rows before HAVING, ORDER BY and LIMIT.
func (a *Answer) cells(sums [][]*big.Int, alpha float64) []*cell {
	if a.possible != nil && a.possible.none {
		return nil
	}
	sums = a.possible.of(sums)
	if a.plan.Sets != nil || a.given != nil {
		return a.setCells(sums, alpha)
	}
	out := make([]*cell, 0, len(sums))
	for i, s := range sums {
		if a.possible.has(i) {
			out = append(out, &cell{answer: a, group: i, keys: a.plan.CellKeys(i), sums: s, alpha: alpha, known: map[estimated]Estimate{}})
		}
	}
	return out
}

func (a *Answer) sort(rows []*cell) {
	type sortable struct {
		row *cell
		by  []value.Value
	}
	all := make([]sortable, len(rows))
	for i, c := range rows {
		all[i].row = c
		for _, o := range a.plan.Order {
			all[i].by = append(all[i].by, c.comparable(o.Post))
		}
		// The shown keys decide the order of ties, and of answers without ORDER BY.
		for _, o := range a.plan.Outputs {
			if o.Post == nil {
				// the group NULL comes before the row that sums over the key
				all[i].by = append(all[i].by, o.Grid.Shown(c.keys[o.Key]), value.OfBool(c.summed(o.Key)))
			}
		}
	}
	slices.SortStableFunc(all, func(x, y sortable) int {
		for i, v := range x.by {
			var o plan.OrderBy
			if i < len(a.plan.Order) {
				o = a.plan.Order[i]
			}
			if d := compare(o, v, y.by[i]); d != 0 {
				return d
			}
		}
		return 0
	})
	for i := range all {
		rows[i] = all[i].row
	}
}

// compare compares two values in the order of one ORDER BY term. It returns −1, 0 or 1.
func compare(o plan.OrderBy, x, y value.Value) int {
	if x.Null != y.Null {
		if x.Null == o.NullsFirst {
			return -1
		}
		return 1
	}
	d := value.Compare(x, y)
	if o.Desc {
		return -d
	}
	return d
}

func (c *cell) outputs(alpha float64) []Cell {
	out := make([]Cell, len(c.answer.plan.Outputs))
	for i, o := range c.answer.plan.Outputs {
		out[i].Group = c.group
		if c.grid != nil {
			out[i].Group = -1
		}
		if o.Post == nil {
			out[i].Key, out[i].Summed = o.Grid.Shown(c.keys[o.Key]), c.summed(o.Key)
			continue
		}
		each := *c
		of := len(aggregates(o.Post))
		each.alpha = alpha / float64(max(of, 1))
		if f, ok := c.answer.formOf(o.Post); ok && o.Post.Op != plan.PostAggregate && o.Post.Op != plan.PostConst {
			out[i].Estimate = f.estimate(c, f.share(alpha, of))
		} else {
			out[i].Estimate = each.number(o.Post)
		}
		for _, p := range c.answer.Parts(o) {
			out[i].Parts = append(out[i].Parts, c.part(p.Measure, alpha))
		}
	}
	return out
}
