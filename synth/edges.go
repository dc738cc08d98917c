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
	edges := c.lowerEnds()
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

// lowerEnds returns the lower ends of the bins, of which the first is the lower bound.
func (c *Column) lowerEnds() []*big.Rat {
	if c.edges != nil {
		return slices.Clone(c.edges)
	}
	out := []*big.Rat{c.lower}
	for x := new(big.Rat).Add(c.origin, c.width); x.Cmp(c.upper) < 0 || c.whole && x.Cmp(c.upper) == 0; x = new(big.Rat).Add(x, c.width) {
		if x.Cmp(c.lower) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// setEdges divides the column into bins with these lower ends. The first is the lower bound.
func (c *Column) setEdges(edges []*big.Rat) {
	c.edges = edges
	from, unit := c.lower, integer(1)
	switch c.Type {
	case "time":
		from, unit = new(big.Rat), integer(micros)
	case "timestamp":
		unit = integer(micros)
	}
	var at []string
	for _, e := range edges[1:] {
		x := new(big.Rat).Sub(e, from)
		at = append(at, decimal(x.Quo(x, unit)))
	}
	c.SQL = fmt.Sprintf("WIDTH_BUCKET(%s, ARRAY[%s])", c.offset, strings.Join(at, ", "))
	if len(at) == 0 {
		c.SQL = fmt.Sprintf("0 * SIGN(%s)", c.offset)
	}
	if !c.nullable {
		c.SQL = fmt.Sprintf("COALESCE(%s, 0)", c.SQL)
	}
}

// decimal writes a number without losing digits that matter.
func decimal(x *big.Rat) string {
	if x.IsInt() {
		return x.Num().String()
	}
	text := x.FloatString(30)
	return strings.TrimRight(text, "0")
}
