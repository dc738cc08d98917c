package synth

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dither/curator"
	"dither/synth/constraint"
)

// AheadShare is the share of the price for the private edges and values of all columns together, in words.
const AheadShare = "a twentieth"

const (
	aheadShare = 20
	// one question has at most mostQuantiles quantiles, at ranks with rankDigits decimals
	mostQuantiles, rankDigits = 100, 4
	leastHalved               = 8 // bins, from which on those at both ends are halved twice
	// longestValue bounds the bytes of a privately selected value. Longer ones become Other
	longestValue = 256
	mostQuestion = 16_000 // bytes of the SQL of a question, of which the kernel reads 16 KiB
)

// ahead is a question that chooses the cells of a column, before the marginals.
type ahead struct {
	column *Column
	edges  bool // its answer is quantiles; otherwise it is values
	curator.Ahead
}

// standIn returns the request with placeholders for the values that a private selection will find. A plan with them, and
// with those of reserveEdges, has the largest number of cells that the private choices can lead to.
func (r *Request) standIn() Request {
	out := *r
	out.Values = maps.Clone(r.Values)
	for _, name := range r.PrivateValues {
		if out.Values == nil {
			out.Values = map[string][]string{}
		}
		for i := range r.Bins - 1 {
			out.Values[name] = append(out.Values[name], strconv.Itoa(i+1))
		}
	}
	return out
}

// reserveEdges divides the column at placeholders for edges that will be chosen privately, at most n, beside the constants
// of constraints. None of them is such a constant, so no choice leads to more cells or more words of SQL. They are the largest numbers,
// which have the most digits. Bins of equal width may be fewer: 65 numbers with at most 64 bins have 33 of width 2.
func (c *Column) reserveEdges(n int, rules []*constraint.Rule) {
	c.setEdges([]*big.Rat{c.lower})
	c.cut(rules)
	edges, step := c.edges(), integer(1)
	switch c.Type {
	case "timestamp", "time":
		step = integer(micros)
	case "real":
		step = new(big.Rat).Sub(c.upper, c.lower)
		step.Quo(step, integer(2*mostEdges))
	}
	x := new(big.Rat).Set(c.upper)
	if !c.whole { // whose upper bound begins no bin
		x.Sub(x, step)
	}
	for ; n > 0 && x.Cmp(c.lower) > 0; x = new(big.Rat).Sub(x, step) {
		if at, found := slices.BinarySearchFunc(edges, x, (*big.Rat).Cmp); !found {
			edges, n = slices.Insert(edges, at, x), n-1
		}
	}
	c.setEdges(edges)
}

// checkAhead refuses private edges and values that cannot be chosen.
func (p *Plan) checkAhead(rules []*constraint.Rule) error {
	r := &p.request
	for i, name := range r.PrivateEdges {
		c := p.named(name)
		_, declared := r.Edges[name]
		switch {
		case slices.Contains(r.PrivateEdges[:i], name) || declared:
			return usage("name it once", "edges of %s are given twice", name)
		case c == nil || c.offset == "":
			return usage("name columns of numbers, dates or times with bounds", "column %q cannot have private edges", name)
		case !c.Binned:
			return usage("leave it out", "column %s has a cell for each of its %d values, so it needs no private edges", name, c.Cells)
		}
	}
	for i, name := range r.PrivateValues {
		if p.named(name) == nil || slices.Contains(r.PrivateValues[:i], name) {
			return usage("name columns of the synthetic table, once each", "values of column %q cannot be selected", name)
		}
		for _, rule := range rules {
			if slices.Contains(rule.Columns(), name) {
				return usage("name the values, with --values "+name+"=…", "constraint %q is about %s, whose values are not known yet", rule, name)
			}
		}
	}
	return nil
}

// named returns a column of the model, or nil.
func (p *Plan) named(name string) *Column {
	if at := p.place(name); at >= 0 {
		return p.Columns[at]
	}
	return nil
}

// addAhead adds the questions that choose edges and values. Each takes an equal part of a share of the price.
//
// The quantiles of a column and the selected values are released by the kernel's own primitives, as steps of the rounds
// that measure the marginals, so their losses are parts of the one price. The cells are functions of what was released.
func (p *Plan) addAhead(of *view) error {
	n := int64(len(p.request.PrivateEdges) + len(p.request.PrivateValues))
	if n == 0 {
		return nil
	}
	text := p.Price.Epsilon
	if p.Price.Rho != "" {
		text = p.Price.Rho
	}
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		return usage("", "the price %q is not a number", text)
	}
	price := curator.StepPrice{Epsilon: shared(x.Quo(x, big.NewRat(aheadShare*n, 1)))}
	if p.Price.Rho != "" {
		price = curator.StepPrice{Rho: price.Epsilon}
	}
	where := ""
	if of.where != "" {
		where = " WHERE " + of.where
	}
	for _, name := range p.request.PrivateEdges {
		a := ahead{column: p.named(name), edges: true}
		a.SQL, a.Price = fmt.Sprintf("SELECT %s FROM %s%s", a.column.offset, of.from, where), price
		for _, rank := range ranks(min(p.request.Bins, mostQuantiles+1)) {
			a.At = append(a.At, rank.FloatString(rankDigits))
		}
		p.aheads = append(p.aheads, a)
	}
	for _, name := range p.request.PrivateValues {
		a, key := ahead{column: p.named(name)}, curator.SQLName(name)
		a.SQL, a.Price = fmt.Sprintf("SELECT %s, COUNT(*) FROM %s%s GROUP BY %s", key, of.from, where, key), price
		p.aheads = append(p.aheads, a)
	}
	p.Ahead = len(p.aheads)
	for _, a := range p.aheads {
		p.rounds.Ahead = append(p.rounds.Ahead, a.Ahead)
	}
	return nil
}

// ranks returns the ranks of the quantiles that begin bins, for a number of bins of about the same number of rows. Tails are
// long, and numbers are even within a bin of few rows. So the first and the last one are halved, and halved again.
func ranks(bins int) (out []*big.Rat) {
	halved := bins >= leastHalved
	even := int64(bins)
	if halved {
		even -= 4
		out = append(out, big.NewRat(1, 4*even), big.NewRat(1, 2*even))
	}
	for i := int64(1); i < even; i++ {
		out = append(out, big.NewRat(i, even))
	}
	if halved {
		out = append(out, big.NewRat(2*even-1, 2*even), big.NewRat(4*even-1, 4*even))
	}
	return out
}

// lookAhead chooses edges and values privately, and continues with the plan that has them.
func (s *synthesis) lookAhead(ctx context.Context) error {
	if len(s.aheads) == 0 {
		return nil
	}
	r := s.request
	r.Edges, r.Values, r.PrivateEdges, r.PrivateValues = maps.Clone(r.Edges), maps.Clone(r.Values), nil, nil
	s.result.Edges, s.result.Values = map[string][]string{}, map[string][]string{}
	price := new(big.Rat).Quo(s.total, big.NewRat(int64(aheadShare*len(s.aheads)), 1))
	for i, a := range s.aheads {
		replayed, err := s.choose(ctx, i, &a)
		if err != nil {
			return err
		}
		s.result.Replayed = s.result.Replayed && replayed
		s.total = new(big.Rat).Sub(s.total, price)
		s.watch(price)
	}
	if r.Edges == nil {
		r.Edges = map[string][]string{}
	}
	if r.Values == nil {
		r.Values = map[string][]string{}
	}
	maps.Copy(r.Edges, s.result.Edges)
	maps.Copy(r.Values, s.result.Values)
	table, err := tableOf(s.session, r.Table)
	if err != nil {
		return err
	}
	of, err := viewOf(table, r.Values)
	if err != nil {
		return err
	}
	p, err := unpriced(ctx, s.session, r, of)
	if err != nil {
		return err
	}
	if err := s.rounds.Change(ctx, p.rounds.SQL, p.candidates); err != nil {
		return err
	}
	p.sensitivities = s.rounds.Sensitivities
	p.Price, p.Remaining, p.Affordable, p.Largest, p.Useful = s.Price, s.Remaining, s.Affordable, s.Largest, s.Useful
	s.plans(p)
	return nil
}

// choose runs the step of one question.
func (s *synthesis) choose(ctx context.Context, at int, a *ahead) (replayed bool, err error) {
	if a.edges {
		quantiles, replayed, err := s.rounds.Quantiles(ctx, at)
		if err == nil {
			s.result.Edges[a.column.Name] = a.column.edgesAt(quantiles)
		}
		return replayed, err
	}
	keys, replayed, err := s.rounds.Keys(ctx, at)
	if err == nil {
		// the placeholders are in the question already
		room := (mostQuestion - len(s.SQL)) / len(s.request.PrivateValues)
		s.result.Values[a.column.Name] = valuesOf(keys, s.request.Bins-1, room)
	}
	return replayed, err
}

// edgesAt returns the lower ends of bins at quantiles of the column's numbers, in ascending order and as Request.Edges has
// them. If several quantiles are the same whole number, that number has a bin of its own.
func (c *Column) edgesAt(quantiles []*big.Rat) (out []string) {
	span := new(big.Rat).Sub(c.upper, c.lower)
	from, unit, digits := c.lower, integer(1), 0
	switch c.Type {
	case "time":
		from, unit = new(big.Rat), integer(micros)
	case "timestamp":
		unit = integer(micros)
	case "real":
		for step := big.NewRat(1, 1); new(big.Rat).Mul(span, big.NewRat(1, 100_000)).Cmp(step) < 0 && digits < 30; digits++ {
			step.Mul(step, big.NewRat(1, 10))
		}
	}
	var edges, heaps []*big.Rat
	quantiles = slices.Clone(quantiles)
	slices.SortFunc(quantiles, (*big.Rat).Cmp)
	for i, q := range quantiles {
		x := new(big.Rat)
		if c.whole {
			x.Add(from, new(big.Rat).Mul(unit, floor(q)))
			x.Mul(unit, floor(x.Quo(x, unit))) // the lower bound may have a fraction of a second
		} else if _, ok := x.SetString(new(big.Rat).Add(from, q).FloatString(digits)); !ok {
			continue
		}
		if i > 0 && quantiles[i-1].Cmp(q) == 0 && c.whole {
			heaps = append(heaps, new(big.Rat).Add(x, unit))
		}
		edges = append(edges, x)
	}
	edges = append(edges, heaps...)
	slices.SortFunc(edges, (*big.Rat).Cmp)
	edges = slices.CompactFunc(edges, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	for _, x := range edges {
		if x.Cmp(c.lower) <= 0 || x.Cmp(c.upper) > 0 || !c.whole && x.Cmp(c.upper) == 0 {
			continue
		}
		if c.whole {
			out = append(out, c.written(x.Num().Int64()))
		} else {
			out = append(out, decimal(x))
		}
	}
	return out
}

// floor returns the largest integer that is at most x.
func floor(x *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom()))
}

// valuesOf returns the texts with the largest noisy counts, at most most of them, in their order. A question names each
// twice, and has room for this many bytes of them. Texts without room become Other too.
func valuesOf(keys []curator.FoundKey, most, room int) []string {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k curator.FoundKey) bool {
		return k.Text == nil || *k.Text == Other || len(*k.Text) > longestValue || !utf8.ValidString(*k.Text) || strings.ContainsRune(*k.Text, 0)
	})
	slices.SortStableFunc(keys, func(a, b curator.FoundKey) int { return b.Count.Cmp(a.Count) })
	out := []string{}
	for _, k := range keys[:min(len(keys), most)] {
		if room -= 2 * len(curator.SQLText(*k.Text)); room < 0 {
			break
		}
		out = append(out, *k.Text)
	}
	slices.Sort(out)
	return out
}
