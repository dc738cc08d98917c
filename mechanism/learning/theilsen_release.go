package learning

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// Release draws a line through rows of one predictor. The error is ErrParameter, ErrRows, the context's error, or
// comes from reading the rows. If more than 2²² rows take part, Release waits until the context ends, because their
// pairs would take most of a day. So the number of rows causes no error of its own.
func (m TheilSen) Release(ctx context.Context, rows *mechanism.Rows) (Line, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(ctx, source, rows)
}

func (m TheilSen) release(ctx context.Context, src *entropy.Source, rows *mechanism.Rows) (Line, error) {
	if err := m.check(); err != nil {
		return Line{}, err
	}
	in, err := opaque.OpenRows(rows, 1)
	if err != nil {
		return Line{}, fmt.Errorf("%w: each row must have one predictor", err)
	}
	p, err := m.gather(ctx, src, in, maxPaired)
	defer clear(p)
	if err != nil {
		return Line{}, err
	}
	return m.through(ctx, src, p)
}

// point is a row in integer units: x from −2²³ to 2²³, y from −2²⁹ to 2²⁹.
type point struct{ x, y int64 }

type points []point

// placer maps rows to points. However its floats round, a point depends on its own row alone.
type placer struct{ x0, xScale, y0, yScale float64 }

func (m TheilSen) placer() placer {
	of := func(r Range, bits int) (middle, scale float64) {
		half := big.NewRat(1, 2)
		mid := new(big.Rat).Add(r.Low, r.High)
		width := new(big.Rat).Sub(r.High, r.Low)
		return exact.FloatDown(mid.Mul(mid, half)), math.Ldexp(1, bits) / exact.FloatUp(width)
	}
	var p placer
	p.x0, p.xScale = of(m.X, xBits)
	p.y0, p.yScale = of(m.Y, yBits)
	return p
}

func (p placer) place(x, y float64) point {
	to := func(v float64, bits int) int64 {
		if v != v {
			v = 0
		}
		most := math.Ldexp(1, bits-1)
		return int64(math.RoundToEven(max(-most, min(most, v))))
	}
	return point{to((x-p.x0)*p.xScale, xBits), to((y-p.y0)*p.yScale, yBits)}
}

// gather collects the rows that take part. If more than the limit `most` take part, it waits until the context
// ends, as the computation for slightly fewer rows would. An immediate error would reveal whether there is one more
// row.
func (m TheilSen) gather(
	ctx context.Context, src *entropy.Source, in *opaque.Reader, most int,
) (out points, err error) {
	p, thin := m.placer(), m.Thinning()
	integers, x, unit := make([]int64, 1), make([]float64, 1), math.Ldexp(1, in.Grid())
	err = in.Each(ctx, 1, func(_ int, records []byte) {
		for ; len(records) >= in.Record(); records = records[in.Record():] {
			if thin > 0 && src.Below64(1<<thin) != 0 || len(out) > most {
				continue
			}
			y := in.Decode(records[:in.Record()], integers, x, unit)
			out = append(out, p.place(x[0], y))
		}
	})
	if err == nil && len(out) > most {
		clear(out)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return out, err
}

// through draws the line for the points.
func (m TheilSen) through(ctx context.Context, src *entropy.Source, p points) (Line, error) {
	n := int64(len(p))
	den := max(n-1, 1)
	slope, middle := m.moves()
	out := Line{Loss: m.Loss()}

	slopes, err := p.slopes(ctx)
	if err != nil {
		return Line{}, err
	}
	out.Slope = chooseMedian(src, rate(m.Slope, slope, den), slopes) - steepest
	lefts := p.lefts(out.Slope)
	out.Middle = chooseMedian(src, rate(m.Middle, middle, 1), lefts) - farthestMiddle
	if m.SlopeWidth.IsZero() {
		return out, nil
	}

	o, rungs := m.slopeOffset(), ladder(2*steepest)
	d := o.shortfalls(slopeSums(slopes, out.Slope, rungs), n, den)
	out.SlopeWidth = rungs[chooseWidth(src, rate(m.SlopeWidth, o.moves, den*offsetUnit), d)]

	o, rungs = m.middleOffset(), ladder(2*farthestMiddle)
	d = o.shortfalls(p.middleSums(out, rungs), n, 1)
	out.MiddleWidth = rungs[chooseWidth(src, rate(m.MiddleWidth, o.moves, offsetUnit), d)]
	return out, nil
}

// rate returns ε/(r·den), where ε is e and r is moves: the factor in the exponent for scores that are multiplied by
// den.
func rate(e privacy.Epsilon, moves *big.Rat, den int64) *big.Rat {
	r := new(big.Rat).Quo(e.Rat(), moves)
	return r.Quo(r, new(big.Rat).SetInt64(den))
}

// floorDiv returns ⌊a/b⌋ for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// slopes counts the pairs of points with different x by their slopes. Entry i counts the slope i − steepest.
func (p points) slopes(ctx context.Context) ([]int64, error) {
	counts := make([]int64, 2*steepest)
	for i, a := range p {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, b := range p[:i] {
			dx, dy := a.x-b.x, a.y-b.y
			switch {
			case dx == 0:
				continue
			case dx < 0:
				dx, dy = -dx, -dy
			}
			s := floorDiv(dy<<(SlopeBits+xBits-yBits), dx) // |dy| ≤ 2³⁰
			counts[min(max(s, -steepest), steepest-1)+steepest]++
		}
	}
	return counts, nil
}

// lefts counts the points by their residuals for the midpoint of the slope's step. Entry i counts the residual i −
// farthestMiddle. Residuals are computed in units of 2⁻⁴⁰, the unit of both y·2¹⁰ and (2s + 1)·x.
func (p points) lefts(slope int64) []int64 {
	counts := make([]int64, 2*farthestMiddle)
	for _, a := range p {
		// the shift rounds down
		left := (a.y<<(1+SlopeBits+xBits-yBits) - (2*slope+1)*a.x) >> (1 + SlopeBits + xBits - MiddleBits)
		counts[min(max(left, -farthestMiddle), farthestMiddle-1)+farthestMiddle]++
	}
	return counts
}

// medianScores calls the function enter with the score D of every candidate, in order (see [TheilSen]). Adjacent
// candidates with the same D come in one call. counts[i] is the number of items at candidate i, whose median is
// sought.
func medianScores(counts []int64, enter func(first int64, width uint64, d int64)) {
	total, below := int64(0), int64(0)
	for _, c := range counts {
		total += c
	}
	first := int64(0)
	gap := func(until int64) {
		if until > first {
			enter(first, uint64(until-first), max(0, 2*below-total, total-2*below))
		}
	}
	for o, c := range counts {
		if c == 0 {
			continue
		}
		gap(int64(o))
		enter(int64(o), 1, max(0, 2*below-total, total-2*(below+c)))
		below += c
		first = int64(o) + 1
	}
	gap(int64(len(counts)))
}

func chooseMedian(src *entropy.Source, c *big.Rat, counts []int64) int64 {
	race := sample.NewContest(src, c)
	medianScores(counts, func(first int64, width uint64, d int64) { race.Enter(first, width, -d) })
	return race.First + int64(src.Below64(race.Width))
}

func chooseWidth(src *entropy.Source, c *big.Rat, shortfalls []int64) int64 {
	race := sample.NewRace(src, c, 1)
	for k, d := range shortfalls {
		race.Enter(int64(k), 1, -d)
	}
	return race.Winners()[0]
}

// slopeSums returns the sum S for each half-width of the slope's interval: see the comment on half-widths in
// theilsen_width.go.
func slopeSums(counts []int64, slope int64, rungs [ladderSteps + 1]int64) (out [ladderSteps + 1]int64) {
	below := make([]int64, len(counts)+1) // below[i] is the number of pairs whose slope is less than candidate i
	for i, c := range counts {
		below[i+1] = below[i] + c
	}
	at := func(s int64) int64 { return below[min(max(s+steepest, 0), 2*steepest)] }
	total := below[len(counts)]
	for k, h := range rungs {
		out[k] = min(2*at(slope+1+h)-total, total-2*at(slope-h))
	}
	return out
}

// middleSums returns the sum S for each half-width of the middle's interval: see the comment on half-widths in
// theilsen_width.go. The residuals for the ends of the slope's interval are in units of 2⁻³⁹. Rounding down does
// not change whether a residual is below an integer.
func (p points) middleSums(l Line, rungs [ladderSteps + 1]int64) (out [ladderSteps + 1]int64) {
	flat, steep := max(l.Slope-l.SlopeWidth, -steepest), min(l.Slope+1+l.SlopeWidth, steepest)
	var below, above [ladderSteps + 1]int64
	for _, a := range p {
		y := a.y << (SlopeBits + xBits - yBits)
		one, other := y-flat*a.x, y-steep*a.x
		low, high := min(one, other)>>(SlopeBits+xBits-MiddleBits), max(one, other)>>(SlopeBits+xBits-MiddleBits)
		for k, w := range rungs {
			// an interval that reaches an end of the domain covers everything on that side
			if upper := l.Middle + 1 + w; upper >= farthestMiddle || high < upper {
				below[k]++
			}
			if lower := l.Middle - w; lower <= -farthestMiddle || low >= lower {
				above[k]++
			}
		}
	}
	for k := range out {
		out[k] = 2*min(below[k], above[k]) - int64(len(p))
	}
	return out
}
