package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/internal/value"
	"dither/privacy"
)

const (
	// vectorBits sets the grid of a block: its largest norm is between 2^(vectorBits-1) and 2^vectorBits grid
	// units. So products of coordinates have about 52 bits, far fewer than 63. With ten million rows, rounding
	// stays below the noise's scale at ε = 1. If rounding errors are random, it stays below a hundredth of that
	// scale.
	vectorBits = 26
	// MaxCoordinates is the largest number of coordinates of a statement. With it and centreBits, the number Σc(c −
	// 2x), which an engine compares in place of the distance between a centre c and a row x, fits into 63 bits.
	MaxCoordinates = 100
	// MaxCentres is the largest number of centres of a statement.
	MaxCentres = 64
	// centreBits bounds the coordinates of centres: they have at most so many bits, in grid units.
	centreBits = vectorBits + 1
)

// VectorRequest has the options of a question about the rows' vectors.
type VectorRequest struct {
	Blocks  []BlockRequest
	Sums    []SumRequest
	Centres [][]float64
}

// BlockRequest is a block of coordinates. If Bound is nil, the coordinates' ranges bound its norm.
type BlockRequest struct {
	Size  int
	Norm  bounded.Norm
	Bound *big.Rat
}

// SumRequest is a sum with its weight. A nil Weight means 1.
type SumRequest struct {
	Kind   bounded.SumKind
	I, J   int
	Weight *big.Rat
}

// Moments is the plan of an access that sums the rows' vectors and their products.
type Moments struct {
	bounded.Statement
	Sums       []*VectorSum // the sums of RowVectors, with their noise
	Neighbours privacy.Neighbours
	Price      privacy.Loss
	Grouped    []int // the index in Keys of each GROUP BY expression, in the question's order
	// the declared number of units, if the one cell has a row of each of them (see wholeUnits), so that a count of rows need not
	// be measured; else 0
	Declared int64
	digest   string
}

// BuildMoments plans sums of the rows' vectors: SELECT x1, x2, y FROM t WHERE … GROUP BY keys with known values.
// The items of the SELECT list are the coordinates. A row with a NULL coordinate does not count. Errors are as in
// Build.
func BuildMoments(p *policy.Policy, r Request, v VectorRequest) (*Moments, error) {
	q, err := read(job{policy: p, original: r})
	if err != nil {
		return nil, err
	}
	k, err := bindPlainKeys(q, func(*query.Select) error { return nil })
	m, err := next(func(k *keyed) (*measured, error) { return measureVectors(k, v) }, k, err)
	c, err := next(capRows, m, err)
	if err != nil {
		return nil, err
	}
	out := &Moments{
		Statement:  c.statement(),
		Neighbours: c.neighbours(),
		Price:      c.price,
		Grouped:    c.place,
		Declared:   c.declared,
		digest:     p.Digest(),
	}
	if out.Sums, err = c.vectorSums(&out.Statement, v); err != nil {
		return nil, err
	}
	return unless(out, c.unitWithin(&out.Statement, &out.Statement))
}

// measureVectors makes the coordinates, their blocks, and the sums.
func measureVectors(k *keyed, r VectorRequest) (*measured, error) {
	b := newMeasuring(k)
	b.units = k.wholeUnits()
	if err := b.blocks(r); err != nil {
		return nil, err
	}
	if err := b.severalRows(); err != nil {
		return nil, err
	}
	return b.measured, nil
}

func (b *measuring) blocks(r VectorRequest) error {
	v := &bounded.Vectors{}
	coordinates, err := b.coordinates(r)
	if err != nil {
		return err
	}
	first := 0
	for _, k := range r.Blocks {
		block := bounded.Block{First: first, Size: k.Size, Norm: k.Norm}
		measures, err := b.block(&block, k, coordinates[first:first+k.Size])
		if err != nil {
			return err
		}
		b.measures = append(b.measures, measures...)
		v.Blocks = append(v.Blocks, block)
		first += k.Size
	}
	if v.Sums, err = sumsOf(r); err != nil {
		return err
	}
	b.vectors = v
	if err := b.centres(r.Centres); err != nil {
		return err
	}
	if len(v.Centres) == 0 { // else each centre has a cell of its own
		b.unitsWith(coordinates...)
	}
	cells := &bounded.Statement{Keys: b.keys, RowVectors: v}
	if n := cells.Width(); cells.Cells() > MaxNumbers/n {
		return b.wrong("ask for fewer coordinates, sums or groups", "the answer would hold more than %d numbers", MaxNumbers)
	}
	return nil
}

// wrong returns a refusal of an option that is not in the question's text.
func (k *keyed) wrong(hint, format string, args ...any) error {
	return bind.Refuse(k.first(), hint, format, args...)
}

// coordinates translates the items of the SELECT list.
func (b *measuring) coordinates(r VectorRequest) (out []*bounded.Expr, err error) {
	total := 0
	for i, k := range r.Blocks {
		if k.Size < 1 || k.Norm != bounded.NormL1 && k.Norm != bounded.NormL2 || k.Bound != nil && k.Bound.Sign() <= 0 {
			return nil, b.wrong(
				`a block has at least one coordinate, the norm "l1" or "l2", and a bound above 0 or none`,
				"block %d is invalid",
				i+1,
			)
		}
		total = min(total+min(k.Size, MaxCoordinates+1), MaxCoordinates+1)
	}
	switch {
	case len(b.tree.Items) > MaxCoordinates:
		return nil, bind.Refuse(
			b.tree.Items[MaxCoordinates].Expr.Pos(),
			"leave some out",
			"more than %d coordinates",
			MaxCoordinates,
		)
	case total != len(b.tree.Items):
		return nil, b.wrong(
			"each coordinate is in one block",
			"the blocks' sizes add up to %d, and the question selects %s",
			total,
			plural(int64(len(b.tree.Items)), "coordinate"),
		)
	}
	weight := 0
	for _, item := range b.tree.Items {
		e, err := b.Row(item.Expr)
		if err != nil {
			return nil, err
		}
		at := item.Expr.Pos()
		switch {
		case bind.IsUntypedNull(e):
			return nil, bind.Refuse(at, "", "a number is needed here")
		case e.Type == value.Boolean:
			return nil, bind.Refuse(at, "write CAST(… AS INTEGER), which is 1 or 0", "a coordinate is a number, not a boolean")
		}
		if err := bind.Numeric(e, at); err != nil {
			return nil, err
		}
		if bind.IsUnbounded(e) || e.Type == value.Real && bind.MaxAbs(e.Range) > math.Ldexp(1, 100) {
			return nil, bind.BoundsNeeded(e, at)
		}
		if weight += e.Weight(); weight > 4*bounded.MaxWeight {
			return nil, bind.Refuse(at, "simplify them", "the coordinates are too large when they are expanded")
		}
		out = append(out, e)
	}
	return out, nil
}

// block makes a measure of each coordinate of a block, all on one grid. The grid is fine enough for the requested
// bound, and for the norm that the coordinates' ranges allow.
func (b *measuring) block(k *bounded.Block, r BlockRequest, coordinates []*bounded.Expr) ([]*unpricedMeasure, error) {
	at := b.tree.Items[k.First].Expr.Pos()
	most := 0.0 // about the largest norm that the ranges allow
	whole := true
	for _, e := range coordinates {
		lo, hi := bind.RangeFloats(e.Range, e.Type)
		reach := math.Max(math.Abs(lo), math.Abs(hi))
		if k.Norm == bounded.NormL1 {
			most += reach
		} else {
			most = math.Hypot(most, reach)
		}
		whole = whole && e.Type == value.Integer
	}
	size := most
	if r.Bound != nil {
		bound, _ := r.Bound.Float64()
		if math.IsInf(bound, 0) || bound > math.Ldexp(1, 110) || bound < math.Ldexp(1, -110) {
			return nil, bind.Refuse(
				at,
				"a bound lies between 2^-110 and 2^110",
				"the bound of block %d is out of range",
				len(b.measures)+1,
			)
		}
		size = math.Min(size, bound)
	}
	k.Grid = max(bind.ExponentAbove(size)-vectorBits, finestGrid)
	if whole && k.Grid <= 0 && most <= math.Ldexp(1, vectorBits) && neverBelow(r.Bound, most) {
		k.Grid = 0 // keep integers as they are
	}
	if bind.ExponentAbove(most)-k.Grid > maxGridded {
		return nil, bind.Refuse(
			at,
			"narrow the coordinates, or give a larger bound",
			"the bound is too small for the coordinates' ranges",
		)
	}
	var out []*unpricedMeasure
	for i, e := range coordinates {
		if k.Grid != 0 {
			var err error
			if e, err = bind.Promote(e, b.tree.Items[k.First+i].Expr.Pos()); err != nil {
				return nil, err
			}
		}
		out = append(out, coordinate(e, k.Grid))
	}
	enforceBound(k, r.Bound, bare(out))
	return out, nil
}

// neverBelow reports whether the bound is nil or, as a double, above the largest norm, most. Then no vector is scaled.
func neverBelow(bound *big.Rat, most float64) bool {
	if bound == nil {
		return true
	}
	f, _ := bound.Float64()
	return math.Floor(f) > most
}

// coordinate returns a measure on a grid. Rounding is monotone, so Lo and Hi are the exact bounds of the rounded
// values.
func coordinate(e *bounded.Expr, grid int) *unpricedMeasure {
	m := &unpricedMeasure{Measure: bounded.Measure{Kind: bounded.Sum, X: e, Grid: grid}, rounding: new(big.Int)}
	if e.Type == value.Integer {
		m.Lo, m.Hi = e.Range.IntLo, e.Range.IntHi
		return m
	}
	m.Lo = int64(math.RoundToEven(math.Ldexp(e.Range.Lo, -grid)))
	m.Hi = int64(math.RoundToEven(math.Ldexp(e.Range.Hi, -grid)))
	return m
}

// enforceBound makes the statement scale longer vectors down to the bound, unless the ranges prove that there are
// none.
func enforceBound(k *bounded.Block, bound *big.Rat, coordinates []*bounded.Measure) {
	if bound == nil {
		return
	}
	// ⌊bound/2^Grid⌋ has at most vectorBits bits if the ranges reach beyond the bound. Otherwise nothing is scaled,
	// and the number is not used.
	units := new(big.Rat).Quo(bound, bounded.GridUnit(k.Grid))
	scale := new(big.Int).Quo(units.Num(), units.Denom())
	l1, l2squared := sensitivity.Box(coordinates)
	if k.Norm == bounded.NormL1 && l1.Cmp(scale) <= 0 ||
		k.Norm == bounded.NormL2 && l2squared.Cmp(new(big.Int).Mul(scale, scale)) <= 0 {
		return
	}
	k.Scale = scale.Int64()
	d := int64(k.Size)
	if k.Norm == bounded.NormL1 {
		k.Most = k.Scale + (d+1)/2 + 1
	} else {
		k.Most = k.Scale + (sensitivity.CeilRoot(big.NewInt(d)).Int64()+1)/2 + 1
	}
}

// sumsOf returns the requested sums.
func sumsOf(r VectorRequest) (out []*bounded.VectorSum, err error) {
	wrong := func(hint, format string, args ...any) ([]*bounded.VectorSum, error) {
		return nil, &Error{Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	if len(r.Sums) == 0 {
		return wrong("ask for a count, the sum of a block, or products", "the sum has nothing to add up")
	}
	for _, s := range r.Sums {
		sum := &bounded.VectorSum{Kind: s.Kind, I: s.I, J: s.J}
		is := func(i int) bool { return i >= 0 && i < len(r.Blocks) }
		switch {
		case s.Kind == bounded.SumOne:
			sum.I, sum.J = 0, 0
		case s.Kind == bounded.SumFirst && is(s.I):
			sum.J = 0
		case s.Kind == bounded.SumProduct && is(s.I) && is(s.J):
		default:
			return wrong("blocks are numbered from 0", "there is no such sum: %s of blocks %d and %d", s.Kind, s.I, s.J)
		}
		if slices.ContainsFunc(out, func(o *bounded.VectorSum) bool {
			return o.Kind == sum.Kind && (o.I == sum.I && o.J == sum.J || o.I == sum.J && o.J == sum.I)
		}) {
			return wrong("leave one out", "the same sum is asked for twice: %s", sum.Name())
		}
		out = append(out, sum)
	}
	return out, nil
}

// centres converts the question's centres to grid units of the first block of coordinates.
func (b *measuring) centres(of [][]float64) error {
	v := b.vectors
	switch {
	case len(of) == 0:
		return nil
	case len(of) > MaxCentres:
		return b.wrong("ask for fewer", "more than %d centres", MaxCentres)
	case len(b.keys) > 0:
		return b.wrong("leave one out", "a question takes either centres or GROUP BY, not both")
	}
	first := v.Blocks[0]
	for i, c := range of {
		if len(c) != first.Size {
			return b.wrong(
				"",
				"centre %d has %s, and the first block has %d",
				i+1,
				plural(int64(len(c)), "coordinate"),
				first.Size,
			)
		}
		on := make([]int64, len(c))
		for j, x := range c {
			at := math.RoundToEven(math.Ldexp(x, -first.Grid))
			if !(math.Abs(at) <= 1<<centreBits) {
				return b.wrong(
					"move it closer to where the coordinates are",
					"centre %d is not a number, or more than twice as far out as any row",
					i+1,
				)
			}
			on[j] = int64(at)
		}
		v.Centres = append(v.Centres, on)
	}
	return nil
}

// Canonical returns a text that determines what the plan releases, as [Plan.Canonical] does.
func (m *Moments) Canonical(versions ...int) string {
	var b strings.Builder
	b.WriteString("sums of vectors\n")
	describeStatement(&m.Statement, &b, m.digest, versions, m.Neighbours, m.Price)
	describeVectors(m.RowVectors, &b, m.Measures, m.Sums)
	return b.String()
}

// Key returns the replay key, which is the digest of Canonical.
func (m *Moments) Key(versions ...int) string {
	sum := sha256.Sum256([]byte(m.Canonical(versions...)))
	return hex.EncodeToString(sum[:])
}

// GroupKeys returns the key values of the cell (group) with the given index, in the order of the question's GROUP BY.
// With centres, it returns the number of the cell's centre.
func (m *Moments) GroupKeys(cell int) []value.Value {
	keys := m.CellKeys(cell)
	if m.Centred() {
		return keys
	}
	out := make([]value.Value, len(m.Grouped))
	for i, k := range m.Grouped {
		out[i] = keys[k]
	}
	return out
}

// weightOf returns the weight of a sum, in thousandths.
func weightOf(r SumRequest) (int64, error) {
	if r.Weight == nil {
		return weightUnit, nil
	}
	n := new(big.Rat).Mul(r.Weight, big.NewRat(weightUnit, 1))
	if n.Sign() <= 0 || !n.IsInt() || n.Cmp(big.NewRat(maxWeights*weightUnit, 1)) > 0 {
		return 0, &Error{
			Message: fmt.Sprintf("a weight is a number above 0 and at most %d, with at most three decimals", maxWeights),
			Hint:    "such as 2 for twice the share",
		}
	}
	return n.Num().Int64(), nil
}
