package release

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/privacy"
)

// Line is a robust line: the median of the slopes of all pairs of rows, and the median of the rows' residuals
// (learning.TheilSen has the proof). It is the only access that combines rows of different units, and it does so
// inside the kernel. Only counts of pairs enter the exponential mechanism.
type Line struct {
	numbersAlone
	*Regression // embedded for its methods; the access uses data
	data        *Regression
	draw        learning.TheilSen
	shares      []privacy.Loss
	silent      bool // intervals were requested, but would have no finite ends
}

// Draw returns a copy of the mechanism of the line, with its public parameters.
func (f *Line) Draw() learning.TheilSen {
	out := f.draw
	for _, r := range []**big.Rat{&out.X.Low, &out.X.High, &out.Y.Low, &out.Y.High} {
		*r = new(big.Rat).Set(*r)
	}
	return out
}

// Shares returns the losses of the line's random choices (draws), in the order of LineDraws.
func (f *Line) Shares() []privacy.Loss { return slices.Clone(f.shares) }

// Silent reports whether intervals were requested, but are not released because they would have no finite ends.
func (f *Line) Silent() bool { return f.silent }

// LineDraws are the names of a line's draws, the numbers that the exponential mechanism chooses.
var LineDraws = []string{"slope", "height", "half-width of the slope", "half-width of the height"}

// linePasses is about the number of passes over the rows for a line, which bisects up to 62 bits.
const linePasses = 64

// Line returns the primitive for a line through a regression with one predictor. rows is the approximate number of
// rows.
func (k *Kernel) Line(r *Regression, rows int64, withoutIntervals bool, by Asker) (*Line, error) {
	f := &Line{Regression: r, data: r.copied()}
	if err := f.prepare(rows, withoutIntervals); err != nil {
		return nil, err
	}
	var mechanisms []ledger.Mechanism
	text := fmt.Sprintf(
		"%s rows=%d thinned=%d x=%s..%s y=%s..%s",
		TheilSen,
		f.draw.Rows,
		f.draw.Thinning(),
		f.draw.X.Low.RatString(),
		f.draw.X.High.RatString(),
		f.draw.Y.Low.RatString(),
		f.draw.Y.High.RatString(),
	)
	epsilons := f.epsilons()
	for i, moves := range f.draw.Moves() {
		m := ledger.Mechanism{
			Name:        Exponential + ": " + LineDraws[i],
			Sensitivity: exact.FormatRat(moves),
			Scale:       exact.FormatRat(new(big.Rat).Quo(moves, epsilons[i].Rat())),
			Cells:       1,
		}
		mechanisms = append(mechanisms, m)
		text += fmt.Sprintf("\n%s %s %s", m.Name, m.Sensitivity, m.Scale)
	}
	l, err := k.regressionLook(r, by, f.Price, text, mechanisms, len(mechanisms), 1)
	if err != nil {
		return nil, err
	}
	l.passes = linePasses
	f.numbersAlone = numbersAlone{l}
	return f, nil
}

// prepare sets the parameters that do not depend on sealed versions.
func (f *Line) prepare(rows int64, withoutIntervals bool) error {
	f.draw.Rows = rows
	f.draw.Unit = mechanism.Unit{Neighbours: f.Neighbours, MaxRows: f.Caps.Rows}
	for i, to := range []*learning.Range{&f.draw.X, &f.draw.Y} {
		m := f.Measures[i]
		*to = learning.Range{Low: m.Units(big.NewInt(m.Lo)), High: m.Units(big.NewInt(m.Hi))}
		if to.Low.Cmp(to.High) >= 0 {
			return &EndedError{
				How:     Unsupported,
				Message: fmt.Sprintf("%s is a constant by its bounds", f.Names[i]),
				Hint:    "select a column that varies",
			}
		}
	}
	f.divide(withoutIntervals)
	if err := f.draw.Usable(); err != nil {
		return &ParameterError{Err: err, Price: true}
	}
	if !withoutIntervals && !f.draw.TellsIntervals() {
		f.silent, f.shares, f.draw.SlopeWidth, f.draw.MiddleWidth = true, nil, privacy.Epsilon{}, privacy.Epsilon{}
		f.divide(true)
	}
	return nil
}

// divide divides the price among the slope, the height and their half-widths, as 8 : 3 : 6 : 3. Without intervals
// it is 7 : 3. The slope gets more, because the rows contain fewer independent pairs than rows.
func (f *Line) divide(withoutIntervals bool) {
	parts, of := []int64{8, 3, 6}, int64(20)
	if withoutIntervals {
		parts, of = []int64{7}, 10
	}
	rest := f.Price
	for _, p := range parts {
		s := f.Price.Share(p, of)
		f.shares, rest = append(f.shares, s), rest.Minus(s)
	}
	f.shares = append(f.shares, rest)
	for i, to := range f.epsilons() {
		e, pure := f.shares[i].Pure()
		if !pure {
			// A draw with loss ε has the bounded range ε, and costs ρ = ε²/8.
			rho, _ := f.shares[i].ZCDP()
			e = rho.Times(4).Pure()
		}
		*to = e
	}
}

// epsilons returns pointers to the ε of each draw, in the order of LineDraws.
func (f *Line) epsilons() []*privacy.Epsilon {
	return []*privacy.Epsilon{&f.draw.Slope, &f.draw.Middle, &f.draw.SlopeWidth, &f.draw.MiddleWidth}[:len(f.shares)]
}

// access implements [Primitive].
func (f *Line) access(ctx context.Context, from reader) (out Values, err error) {
	rows, err := from.vectors(ctx, f.data)
	if err != nil {
		return out, err
	}
	defer func() { _ = rows.Close() }() // the file has no name, so closing it deletes it
	line, err := f.draw.Release(ctx, rows)
	if err == nil {
		err = costsAsPlanned(line.Loss, f.draw.Loss())
	}
	if err == nil {
		err = paidFor(f.look.price, line.Loss, f.draw.BoundedRange())
	}
	if err != nil {
		return out, err
	}
	for _, v := range []int64{line.Slope, line.Middle, line.SlopeWidth, line.MiddleWidth}[:len(f.shares)] {
		out.Numbers = append(out.Numbers, []*big.Int{big.NewInt(v)})
	}
	return out, nil
}
