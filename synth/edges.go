package synth

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/synth/constraint"
)

// schema describes the column to constraints.
func (c *Column) schema() constraint.Column {
	switch c.Type {
	case "text":
		return constraint.Column{Kind: constraint.Text}
	case "boolean":
		return constraint.Column{Kind: constraint.Boolean}
	case "timestamp", "time":
		return constraint.Column{Number: c.number}
	}
	return constraint.Column{Number: c.number, Unit: 1}
}

// number reads a number, a date or a time as a number.
func (c *Column) number(text string) (float64, error) {
	layout, ok := layouts[c.Type]
	if !ok {
		x, ok := new(big.Rat).SetString(text)
		if !ok || len(text) > 100 {
			return 0, fmt.Errorf("%q is not a number", text)
		}
		out, _ := x.Float64()
		return out, nil
	}
	t, err := time.Parse(layout, strings.Replace(text, "T", " ", 1))
	if err != nil && c.Type == "timestamp" {
		t, err = time.Parse(time.DateOnly, text)
	}
	return float64(number(c.Type, t)), err
}

// mostEdges bounds the bins of a column with edges.
const mostEdges = 2000

// cut adds the constants of constraints to the edges of the bins, so that each bin lies on one side of a constant.
func (c *Column) cut(rules []*constraint.Rule) {
	if !c.Binned {
		return
	}
	edges := c.edges()
	known := len(edges)
	add := func(x float64) {
		if c.whole {
			x = math.Ceil(x)
		}
		r := new(big.Rat)
		if r.SetFloat64(x) == nil || r.Cmp(c.lower) <= 0 || r.Cmp(c.upper) > 0 || !c.whole && r.Cmp(c.upper) == 0 {
			return
		}
		if (c.Type == "timestamp" || c.Type == "time") && !new(big.Rat).Quo(r, integer(micros)).IsInt() {
			return
		}
		if at, found := slices.BinarySearchFunc(edges, r, (*big.Rat).Cmp); !found && len(edges) < mostEdges {
			edges = slices.Insert(edges, at, r)
		}
	}
	for _, r := range rules {
		for _, cut := range r.Cuts(c.Name) {
			if cut.Before {
				add(cut.At)
			}
			if cut.After && c.whole {
				add(math.Floor(cut.At) + 1)
			} else if cut.After {
				add(cut.At)
			}
		}
	}
	if len(edges) > known {
		c.setEdges(edges)
	}
}

// bin is a range of numbers. Of whole numbers, it includes its upper end, and of others it does not, unless it has one
// number only.
type bin struct{ low, high *big.Rat }

// edges returns the lower ends of the bins, of which the first is the lower bound.
func (c *Column) edges() (out []*big.Rat) {
	if c.bins == nil {
		out = []*big.Rat{c.lower}
		for x := new(big.Rat).Add(c.origin, c.width); x.Cmp(c.upper) <= 0; x = new(big.Rat).Add(x, c.width) {
			if x.Cmp(c.lower) > 0 {
				out = append(out, x)
			}
		}
		return out
	}
	for _, b := range c.bins {
		if c.whole || b.low.Cmp(b.high) < 0 {
			out = append(out, b.low)
		}
	}
	return out
}

// setEdges divides the column into bins with these lower ends. The first is the lower bound.
func (c *Column) setEdges(edges []*big.Rat) {
	if c.whole {
		c.setWhole(edges)
		return
	}
	var at []string
	for _, e := range edges[1:] {
		at = append(at, decimal(e))
	}
	c.setReal(edges, fmt.Sprintf("WIDTH_BUCKET(%s, ARRAY[%s]) + 1", c.name, strings.Join(at, ", ")))
	if len(at) == 0 {
		c.setReal(edges, "1")
	}
	c.notNull()
}

// setReal divides a column of reals. The number of a bin is 1 for the first. The bounds and 0 have bins of their own,
// because many values may be equal to them.
func (c *Column) setReal(edges []*big.Rat, number string) {
	c.bins = []bin{{c.lower, c.lower}}
	for i, e := range edges {
		high := c.upper
		if i+1 < len(edges) {
			high = edges[i+1]
		}
		c.bins = append(c.bins, bin{e, high})
	}
	c.bins = append(c.bins, bin{c.upper, c.upper})
	zero := ""
	if c.lower.Sign() < 0 && c.upper.Sign() > 0 {
		zero = fmt.Sprintf(" WHEN %s = 0 THEN %d", c.name, len(c.bins))
		c.bins = append(c.bins, bin{new(big.Rat), new(big.Rat)})
	}
	c.SQL = fmt.Sprintf("CASE WHEN %[1]s <= %[2]s THEN 0 WHEN %[1]s >= %[3]s THEN %[4]d%[5]s WHEN %[1]s IS NOT NULL THEN %[6]s END",
		c.name, decimal(c.lower), decimal(c.upper), len(edges)+1, zero, number)
}

// notNull tells the planner that values are not NULL, of a column that has no NULL.
func (c *Column) notNull() {
	if !c.nullable {
		c.SQL = fmt.Sprintf("COALESCE(%s, 0)", c.SQL)
	}
}

// setWhole divides a column of whole numbers.
func (c *Column) setWhole(edges []*big.Rat) {
	c.bins = nil
	from, unit := c.lower, integer(1)
	switch c.Type {
	case "time":
		from, unit = new(big.Rat), integer(micros)
	case "timestamp":
		unit = integer(micros)
	}
	var at []string
	for i, e := range edges {
		last := c.upper
		if i+1 < len(edges) {
			last = new(big.Rat).Sub(edges[i+1], integer(1))
		}
		c.bins = append(c.bins, bin{e, last})
		if i > 0 {
			x := new(big.Rat).Sub(e, from)
			at = append(at, decimal(x.Quo(x, unit)))
		}
	}
	if c.SQL = fmt.Sprintf("WIDTH_BUCKET(%s, ARRAY[%s])", c.offset, strings.Join(at, ", ")); len(at) == 0 {
		c.SQL = fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN 0 END", c.name)
	}
	c.notNull()
}

// decimal writes a number without losing digits that matter.
func decimal(x *big.Rat) string {
	if x.IsInt() {
		return x.Num().String()
	}
	text := x.FloatString(30)
	return strings.TrimRight(text, "0")
}

// declared divides the column at declared edges.
func (c *Column) declared(at []string) error {
	bad := func(format string, args ...any) error {
		return usage("give ascending numbers, dates or times within the bounds, such as age=18,65", "edges of "+c.Name+": "+format, args...)
	}
	switch {
	case c.offset == "":
		return bad("it is not a column of numbers, dates or times with bounds")
	case len(at) > mostEdges:
		return bad("there are at most %d", mostEdges)
	}
	edges := []*big.Rat{c.lower}
	for _, text := range at {
		x, err := c.number(text)
		r := new(big.Rat)
		if err != nil || r.SetFloat64(x) == nil {
			return bad("%q is no value of the column", text)
		}
		if _, written := layouts[c.Type]; !written {
			r.SetString(text) // number has read it
		}
		if (c.Type == "timestamp" || c.Type == "time") && !new(big.Rat).Quo(r, integer(micros)).IsInt() || c.whole && !r.IsInt() {
			return bad("%s is not a whole number or second", text)
		}
		switch d := r.Cmp(edges[len(edges)-1]); {
		case d == 0 && len(edges) == 1: // the lower bound
		case d <= 0 || r.Cmp(c.upper) > 0 || !c.whole && r.Cmp(c.upper) == 0:
			return bad("%s is not above the edge before it, or not within the bounds", text)
		default:
			edges = append(edges, r)
		}
	}
	c.Binned = true
	c.setEdges(edges)
	return nil
}
