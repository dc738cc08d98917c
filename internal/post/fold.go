package post

import (
	"fmt"
	"math"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// fold is an aggregate over rows of an answer.
type fold struct {
	name     string
	args     []*node
	filter   *node // nil for all rows
	distinct bool
	typ      value.Type
	exact    bool // no argument depends on noise

	rank       float64 // of a percentile
	descending bool
}

// accumulator adds up the cells of rows.
type accumulator interface {
	add(Cell)
	result(*env) Cell
}

// others are the aggregates beside COUNT, each with the start of its accumulator.
var others = map[string]func(*fold) accumulator{
	"sum": startTotal, "avg": startTotal, "min": startExtreme, "max": startExtreme,
	"bool_or": startBooleans, "bool_and": startBooleans, "every": startBooleans,
	"var_pop": startNumbers, "var_samp": startNumbers, "variance": startNumbers, "stddev_pop": startNumbers,
	"stddev_samp": startNumbers, "stddev": startNumbers,
	"median": startPlaced, "percentile_cont": startPlaced, "percentile_disc": startPlaced,
}

// spreads are the aggregates that measure how far values are apart.
var spreads = map[string]bool{
	"var_pop": true, "var_samp": true, "variance": true, "stddev_pop": true, "stddev_samp": true, "stddev": true,
}

// start returns an accumulator without cells.
func (f *fold) start() accumulator {
	if f.name == "count" {
		return &counter{}
	}
	return others[f.name](f)
}

// cell returns what a row adds to the aggregate. ok is false if FILTER leaves the row out.
func (f *fold) cell(e *env, r *row) (c Cell, ok bool) {
	if f.filter != nil && !f.filter.eval(e, r).Value.IsTrue() {
		return Cell{}, false
	}
	if len(f.args) == 0 {
		return Exact(value.OfInt(1)), true
	}
	return f.args[0].eval(e, r), true
}

// over computes the aggregate over rows.
func (f *fold) over(e *env, rows []*row) Cell {
	out := f.start()
	if f.distinct {
		out = &distinct{of: out, seen: map[string]bool{}}
	}
	for _, r := range rows {
		if c, ok := f.cell(e, r); ok {
			out.add(c)
		}
	}
	return out.result(e)
}

// distinct passes each value on once.
type distinct struct {
	of   accumulator
	seen map[string]bool
}

func (d *distinct) add(c Cell) {
	if k := keyText(c.Value); !d.seen[k] {
		d.seen[k] = true
		d.of.add(c)
	}
}

func (d *distinct) result(e *env) Cell { return d.of.result(e) }

// newFold binds an aggregate's arguments. The result's node has no value yet: the caller says where it comes from.
func (s *scope) newFold(x *query.Call) (*fold, *node, error) {
	if !s.windowing {
		s.inside = true
		defer func() { s.inside = false }()
	}
	if x.Within != nil && !percentiles[x.Name] || len(x.Named) > 0 {
		return nil, nil, bind.Refuse(x.At, "use AVG, MIN, MAX, MEDIAN, PERCENTILE_CONT or PERCENTILE_DISC",
			"over an answer, %s takes neither WITHIN GROUP nor named arguments", x.Name)
	}
	f := &fold{name: x.Name, distinct: x.Distinct}
	args := x.Args
	var err error
	switch {
	case percentiles[x.Name]:
		of, err := f.ranked(s, x)
		if err != nil {
			return nil, nil, err
		}
		args = []query.Expr{of}
	case x.Star && x.Name == "count":
		args = nil
	case x.Name != "count" && others[x.Name] == nil || x.Star || len(x.Args) != 1:
		hint := "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, VARIANCE, STDDEV, BOOL_OR or BOOL_AND, with one argument"
		return nil, nil, bind.Refuse(x.At, hint, "%s is not supported over an answer in this form", x.Name)
	}
	if f.args, err = s.bindAll(args); err != nil {
		return nil, nil, err
	}
	if x.Filter != nil {
		if f.filter, err = s.condition(x.Filter); err != nil {
			return nil, nil, err
		}
	}
	n := &node{work: 1}
	if x.Name == "min" || x.Name == "max" || x.Name == "percentile_disc" {
		n.wide(f.args...)
	}
	if n.typ, err = f.check(x.At); err != nil {
		return nil, nil, err
	}
	f.typ = n.typ
	n.depends(f.reason(), f.args...)
	f.exact = !n.noisy
	if f.filter != nil && f.filter.noisy {
		n.noisy, n.why = true, whyPicked
	}
	if s.picked != "" {
		n.noisy, n.why = true, s.picked
	}
	// an empty group adds 0 to a sum of released numbers, and is seldom their greatest one
	same := (x.Name == "sum" || x.Name == "max") && len(f.args) == 1 && f.args[0].noisy && f.args[0].from > 0
	s.counts = s.counts || s.empty && !same
	return f, n, nil
}

// reason returns why the aggregate of noisy values has no interval, or "" if it may have one.
func (f *fold) reason() string {
	switch {
	case f.name == "count":
		return whyCount
	case f.distinct:
		return whyCondition
	case f.name == "sum" || f.name == "avg":
		return ""
	case f.name == "min" || f.name == "max" || percentiles[f.name]:
		return whyExtreme
	}
	return whyProduct
}

// check returns the type of the aggregate, and refuses an argument of a wrong type.
func (f *fold) check(at query.Pos) (value.Type, error) {
	if len(f.args) == 0 {
		return value.Integer, nil
	}
	x := f.args[0]
	switch f.name {
	case "count":
		return value.Integer, nil
	case "min", "max", "percentile_disc":
		if x.typ == value.Boolean {
			return 0, bind.Refuse(at, "use BOOL_OR or BOOL_AND", "%s does not take booleans", f.name)
		}
		return x.typ, nil
	case "bool_or", "bool_and", "every":
		return value.Boolean, asCondition(x, at)
	case "sum":
		if x.typ == value.Integer {
			return value.Integer, nil
		}
	}
	return value.Real, asNumber(at, x)
}

// keyText returns a text that is the same for equal values alone.
func keyText(v value.Value) string {
	if v.Null {
		return "0"
	}
	if v.Type == value.Real && v.Real == 0 {
		v.Real = 0
	}
	return fmt.Sprintf("%d %s", v.Type, v)
}

// counter counts values.
type counter struct{ n int64 }

func (a *counter) add(c Cell) {
	if !c.Value.Null {
		a.n++
	}
}

func (a *counter) result(*env) Cell { return Exact(value.OfInt(a.n)) }

// adder adds up values, for SUM and AVG. The sum of linear forms is a linear form. Integers that do not fit in 64 bits are
// NULL.
type adder struct {
	*fold
	all, values int // the number of cells, and of those that are not NULL
	sum         value.Value
	forms       []*form
	terms       int // of all forms together
	only        *margin
	opaque      bool // some cell is no linear form
}

func startTotal(f *fold) accumulator { return &adder{fold: f} }

func (a *adder) add(c Cell) {
	if c.absent {
		return
	}
	a.all++
	if c.Value.Null {
		return
	}
	if a.values++; a.values == 1 {
		a.sum, a.only = c.Value, c.error
	} else if a.name == "sum" && a.typ == value.Integer {
		if !a.sum.Null {
			a.sum = whole(query.Add, a.sum.Int, c.Value.Int)
		}
	} else {
		a.sum = value.OfReal(number(a.sum) + number(c.Value))
	}
	if a.exact {
		return
	}
	if c.error == nil || c.error.over == nil || c.error.under != nil {
		a.opaque, a.forms = true, nil
	} else if !a.opaque {
		a.forms, a.terms = append(a.forms, c.error.over), a.terms+len(c.error.over.terms)
	}
}

func (a *adder) result(e *env) Cell {
	if a.values == 0 || a.sum.Null {
		return Exact(value.NullOf(a.typ))
	}
	out := Exact(a.sum)
	switch {
	case a.exact:
	case a.values < a.all: // whether a noisy value is NULL depends on noise
	case a.values == 1:
		out.error = a.only
	case !a.opaque:
		out.error = e.added(a.forms, a.terms)
	}
	if a.name == "avg" {
		out = e.scaled(out, 1/float64(a.values))
		out.Value = ofReal(number(a.sum) / float64(a.values))
	} else if a.typ == value.Real {
		out.Value = ofReal(number(a.sum))
	}
	return out
}

// added returns the error of a sum of linear forms, which have a number of terms together.
func (e *env) added(forms []*form, terms int) *margin {
	if !e.afford(terms + len(forms)) {
		return nil
	}
	out := &form{terms: make([]term, 0, terms)}
	for _, f := range forms {
		out.terms = append(out.terms, f.terms...)
		out.off += f.off
		out.size += f.size
	}
	slices.SortStableFunc(out.terms, func(a, b term) int { return a.id - b.id })
	merged := out.terms[:0]
	for _, t := range out.terms {
		if n := len(merged) - 1; n >= 0 && merged[n].id == t.id {
			out.off += (math.Abs(merged[n].coefficient) + math.Abs(t.coefficient)) * rounding
			merged[n].coefficient += t.coefficient
			continue
		}
		merged = append(merged, t)
	}
	out.terms = slices.DeleteFunc(merged, func(t term) bool { return t.coefficient == 0 })
	return &margin{over: out}
}

// chooser keeps the least or the greatest value. The extreme of noisy values has no interval.
type chooser struct {
	sign int
	best value.Value
}

func startExtreme(f *fold) accumulator {
	out := &chooser{sign: 1, best: value.NullOf(f.typ)}
	if f.name == "min" {
		out.sign = -1
	}
	return out
}

func (a *chooser) add(c Cell) {
	if !c.Value.Null && (a.best.Null || value.Compare(c.Value, a.best) == a.sign) {
		a.best = c.Value
	}
}

func (a *chooser) result(*env) Cell { return Exact(a.best) }

// voter joins booleans by OR or AND. It is NULL without values.
type voter struct {
	decides bool
	out     value.Value
}

func startBooleans(f *fold) accumulator {
	return &voter{decides: f.name == "bool_or", out: value.NullOf(value.Boolean)}
}

func (a *voter) add(c Cell) {
	if !c.Value.Null && (a.out.Null || c.Value.Bool == a.decides) {
		a.out = c.Value
	}
}

func (a *voter) result(*env) Cell { return Exact(a.out) }

// numbers keeps all numbers, for variances.
type numbers struct {
	*fold
	xs []float64
}

func startNumbers(f *fold) accumulator { return &numbers{fold: f} }

func (a *numbers) add(c Cell) {
	if !c.Value.Null {
		a.xs = append(a.xs, number(c.Value))
	}
}

func (a *numbers) result(*env) Cell {
	n := float64(len(a.xs))
	centre, squares := 0.0, 0.0
	for _, x := range a.xs {
		centre += x / n
	}
	for _, x := range a.xs {
		squares += (x - centre) * (x - centre)
	}
	if a.name != "var_pop" && a.name != "stddev_pop" {
		n--
	}
	if n <= 0 {
		return Exact(value.NullOf(value.Real))
	}
	out := squares / n
	if a.name[0] == 's' {
		out = math.Sqrt(out)
	}
	return Exact(ofReal(out))
}
