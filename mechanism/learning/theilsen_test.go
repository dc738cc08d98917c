package learning

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// relations are the relations that randomized tests run under.
var relations = []mechanism.Unit{
	{Neighbours: privacy.AddRemove, MaxRows: 1},
	{Neighbours: privacy.ChangeOne, MaxRows: 1},
	{Neighbours: privacy.AddRemove, MaxRows: 3},
	{Neighbours: privacy.ChangeOne, MaxRows: 3},
}

func unitRange() Range { return Range{new(big.Rat), big.NewRat(1, 1)} }

// theilSenOf splits a price as the curator does.
func theilSenOf(t testing.TB, u mechanism.Unit, rows int64, epsilon string) TheilSen {
	t.Helper()
	e := mechtest.Epsilon(t, epsilon)
	return TheilSen{
		Unit: u, X: unitRange(), Y: unitRange(), Rows: rows,
		Slope: e.Share(8, 20), Middle: e.Share(3, 20), SlopeWidth: e.Share(6, 20), MiddleWidth: e.Share(3, 20),
	}
}

// hardPoints are few points: of a small grid, on one line, or with outliers; many share an x, or are the same.
func hardPoints(r *rand.Rand, n int) (out points) {
	kind := r.IntN(4)
	for range n {
		p := point{r.Int64N(5)<<22 - 1<<23, r.Int64N(5)<<28 - 1<<29}
		switch kind {
		case 1:
			p.y = p.x << 5
		case 2:
			p = point{r.Int64N(1<<24) - 1<<23, r.Int64N(1<<30) - 1<<29}
		case 3:
			p.x = r.Int64N(2)<<24 - 1<<23
		}
		out = append(out, p)
	}
	return out
}

// nextTo are neighbours of points: some rows come, or as many as a unit may have are exchanged for as many others, or
// for fewer.
func nextTo(r *rand.Rand, p points, u mechanism.Unit) points {
	out := slices.Clone(p)
	if u.Neighbours == privacy.ChangeOne {
		for range min(r.Int64N(u.MaxRows+1), int64(len(out))) {
			i := r.IntN(len(out))
			out = slices.Delete(out, i, i+1)
		}
	}
	for range 1 + r.Int64N(u.MaxRows) {
		q := point{(r.Int64N(2)*2 - 1) << 23, (r.Int64N(2)*2 - 1) << 29}
		if r.IntN(3) > 0 {
			q = hardPoints(r, 1)[0]
		}
		out = append(out, q)
	}
	return out
}

// expanded are the D of all candidates.
func expanded(counts []int64) []int64 {
	out := make([]int64, len(counts))
	medianScores(counts, func(first int64, width uint64, d int64) {
		for i := range width {
			out[first+int64(i)] = d
		}
	})
	return out
}

// movement is by how much scores that are d/den move to other/otherDen, relative to one another, in all: exactly.
func movement(d []int64, den int64, other []int64, otherDen int64) *big.Rat {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range d {
		x := other[i]*den - d[i]*otherDen
		least, most = min(least, x), max(most, x)
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(most), big.NewInt(least))),
		new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(den), big.NewInt(otherDen))))
}

// TestTheilSenMoves: no two scores of any draw move relative to one another by more than r, on all neighbours that are
// tried: points on one line against an outlier come near to it.
func TestTheilSenMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, u := range relations {
		for _, epsilon := range []string{"1", "200"} { // with the second, offsets are near to what a few rows reach
			m := theilSenOf(t, u, 8, epsilon)
			slope, middle := m.moves()
			bound := []*big.Rat{slope, middle, m.slopeOffset().moves, m.middleOffset().moves}
			worst := []float64{0, 0, 0, 0}
			for range 50 {
				p := hardPoints(r, r.IntN(12))
				if r.IntN(8) == 0 { // all pairs on one side of what a row more says
					p = p[:0]
					for i := range int64(1 + r.IntN(12)) {
						p = append(p, point{i << 18, -(i << 23)})
					}
				}
				q := nextTo(r, p, u)
				line := Line{
					Slope:  r.Int64N(2*steepest) - steepest,
					Middle: r.Int64N(2*farthestMiddle) - farthestMiddle, SlopeWidth: ladder(2 * steepest)[r.IntN(33)],
				}
				sides := [2][4][]int64{}
				dens := [2][4]int64{}
				for side, s := range []points{p, q} {
					slopes, err := s.slopes(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					n := int64(len(s))
					den := max(n-1, 1)
					sides[side] = [4][]int64{
						expanded(slopes), expanded(s.lefts(line.Slope)),
						m.slopeOffset().shortfalls(slopeSums(slopes, line.Slope, ladder(2*steepest)), n, den),
						m.middleOffset().shortfalls(s.middleSums(line, ladder(2*farthestMiddle)), n, 1),
					}
					dens[side] = [4]int64{den, 1, den * offsetUnit, offsetUnit}
				}
				for i := range bound {
					got := movement(sides[0][i], dens[0][i], sides[1][i], dens[1][i])
					if got.Cmp(bound[i]) > 0 {
						t.Fatalf("%v, draw %d: %v and %v: scores move by %v, and r is %v", u, i, p, q, got, bound[i])
					}
					share, _ := new(big.Rat).Quo(got, bound[i]).Float64()
					worst[i] = max(worst[i], share)
				}
			}
			t.Logf("%v, ε = %s: at most %.3f of r", u, epsilon, worst)
			if u.MaxRows == 1 && worst[0] < 0.5 {
				t.Errorf("%v: at most %.3f of r: this shows little", u, worst)
			}
		}
	}
}

// TestTheilSenScores compares all scores with their definitions, in rationals.
func TestTheilSenScores(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	for range 60 {
		p := hardPoints(r, r.IntN(8))
		counts, err := p.slopes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var slopes []*big.Rat // in steps of a slope
		for i, a := range p {
			for _, b := range p[:i] {
				if a.x != b.x {
					slopes = append(slopes, big.NewRat((a.y-b.y)<<9, a.x-b.x))
				}
			}
		}
		n := int64(len(slopes))
		below := func(o int64) (c int64) { // the ends of the domain hold what is beyond them
			for _, s := range slopes {
				if o > -steepest && (o >= steepest || s.Cmp(big.NewRat(o, 1)) < 0) {
					c++
				}
			}
			return c
		}
		d := expanded(counts)
		for _, o := range []int64{
			-steepest, -steepest + 1, -1 << 15, -100, -1, 0, 1, 1 << 14, 1 << 15, steepest - 2,
			steepest - 1, r.Int64N(2*steepest) - steepest,
		} {
			if want := max(0, 2*below(o)-n, n-2*below(o+1)); d[o+steepest] != want {
				t.Fatalf("%v: D(%d) is %d, not %d", p, o, d[o+steepest], want)
			}
		}
		s := r.Int64N(2*steepest) - steepest
		rungs := ladder(2 * steepest)
		for k, got := range slopeSums(counts, s, rungs) {
			if want := min(2*below(s+1+rungs[k])-n, n-2*below(s-rungs[k])); got != want {
				t.Fatalf("%v: S(%d) about %d is %d, not %d", p, rungs[k], s, got, want)
			}
		}
		// Of the middle: at a slope of s + ½ for the estimate, and at both ends of an interval for its width.
		l := Line{Slope: s, SlopeWidth: rungs[r.IntN(33)], Middle: r.Int64N(2*farthestMiddle) - farthestMiddle}
		left := func(a point, slope *big.Rat) *big.Rat { // in steps of a middle
			y := big.NewRat(a.y, 1<<(yBits-MiddleBits))
			return y.Sub(y, new(big.Rat).Mul(slope, big.NewRat(a.x, 1<<(SlopeBits+xBits-MiddleBits))))
		}
		d = expanded(p.lefts(s))
		under := func(o int64) (c int64) {
			for _, a := range p {
				if o > -farthestMiddle &&
					(o >= farthestMiddle || left(a, big.NewRat(2*s+1, 2)).Cmp(big.NewRat(o, 1)) < 0) {
					c++
				}
			}
			return c
		}
		for _, o := range []int64{-farthestMiddle, -1, 0, l.Middle, farthestMiddle - 1} {
			if want := max(0, 2*under(o)-int64(len(p)), int64(len(p))-2*under(o+1)); d[o+farthestMiddle] != want {
				t.Fatalf("%v at %d: D(%d) is %d, not %d", p, s, o, d[o+farthestMiddle], want)
			}
		}
		rungs = ladder(2 * farthestMiddle)
		sums := p.middleSums(l, rungs)
		for k, w := range rungs {
			up, down := int64(0), int64(0)
			for _, a := range p {
				surelyBelow, surelyNot := true, true
				for _, slope := range []int64{
					max(l.Slope-l.SlopeWidth, -steepest),
					min(l.Slope+1+l.SlopeWidth, steepest),
				} {
					x := left(a, big.NewRat(slope, 1))
					surelyBelow = surelyBelow &&
						(l.Middle+1+w >= farthestMiddle || x.Cmp(big.NewRat(l.Middle+1+w, 1)) < 0)
					surelyNot = surelyNot && (l.Middle-w <= -farthestMiddle || x.Cmp(big.NewRat(l.Middle-w, 1)) >= 0)
				}
				if surelyBelow {
					up++
				}
				if surelyNot {
					down++
				}
			}
			if want := 2*min(up, down) - int64(len(p)); sums[k] != want || k > 0 && sums[k] < sums[k-1] {
				t.Fatalf("%v, %+v: S(%d) is %d, not %d", p, l, w, sums[k], want)
			}
		}
	}
	for _, domain := range []int64{2 * steepest, 2 * farthestMiddle} {
		rungs := ladder(domain)
		if rungs[32] != domain || rungs[29] != domain/2 || rungs[0] < 30 {
			t.Errorf("the ladder of %d is %v", domain, rungs)
		}
	}
}

// openedPoints are rows of one predictor, opened.
func openedPoints(t testing.TB, rows *mechanism.Rows) *opaque.Reader {
	t.Helper()
	in, err := opaque.OpenRows(rows, 1)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// rowsOfPoints are rows whose ranges are from 0 to 1.
func rowsOfPoints(t testing.TB, xy [][2]float64) *mechanism.Rows {
	t.Helper()
	rows, err := mechanism.NewRows(mechanism.RowShape{
		Grids: []int{-20, -30}, Bound: big.NewRat(1, 1), Most: 1,
		Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rows.Close() })
	for _, p := range xy {
		if err := rows.Add(true, []int64{int64(p[0] * (1 << 20)), int64(p[1] * (1 << 30))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Seal(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestTheilSenOfRows: what is released is the same in whatever order rows come, of the same randomness; and near the
// line where the price is high. No rows, one, and rows of one x give a line of the domain.
func TestTheilSenOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 76))
	recording := make([]byte, 1<<20)
	for i := range recording {
		recording[i] = byte(r.Uint32())
	}
	var xy [][2]float64
	for range 60 {
		x := r.Float64()
		xy = append(xy, [2]float64{x, 0.2 + 0.5*x + 0.02*r.NormFloat64()})
	}
	m := theilSenOf(t, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 60, "1000")
	first, err := m.release(t.Context(), entropy.Recorded(recording), rowsOfPoints(t, xy))
	if err != nil {
		t.Fatal(err)
	}
	slope, middle := math.Ldexp(float64(first.Slope), -SlopeBits), 0.5+math.Ldexp(float64(first.Middle), -MiddleBits)
	if math.Abs(slope-0.5) > 0.05 || math.Abs(middle-0.45) > 0.02 || first.SlopeWidth > steepest/16 ||
		first.MiddleWidth > farthestMiddle/16 {
		t.Errorf("%+v: slope %g, middle %g", first, slope, middle)
	}
	for range 5 {
		r.Shuffle(len(xy), func(i, j int) { xy[i], xy[j] = xy[j], xy[i] })
		again, err := m.release(t.Context(), entropy.Recorded(recording), rowsOfPoints(t, xy))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("in another order: %+v, %v", again, err)
		}
	}
	for name, few := range map[string][][2]float64{
		"none": nil, "one": {{0.5, 0.5}},
		"the same": {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.9}}, "beyond": {{-900, 1e6}, {800, -1e6}, {0, 0}},
	} {
		for _, plain := range []bool{false, true} {
			m := theilSenOf(t, mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 3}, 1, "1e-9")
			if plain {
				m.SlopeWidth, m.MiddleWidth = privacy.Epsilon{}, privacy.Epsilon{}
			}
			if name == "beyond" {
				few = slices.Clone(few)
				for i := range few {
					few[i][0] = max(-1, min(1, few[i][0])) // the engine's integers are within 32 bits
				}
			}
			l, err := m.Release(t.Context(), rowsOfPoints(t, few))
			if err != nil || l.Slope < -steepest || l.Slope >= steepest || l.Middle < -farthestMiddle ||
				l.Middle >= farthestMiddle {
				t.Errorf("%s: %+v, %v", name, l, err)
			}
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.Release(stopped, rowsOfPoints(t, xy)); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// TestTheilSenThins: of many rows about 2⁻ᵗ take part. The false-alarm rate is 1e-6.
func TestTheilSenThins(t *testing.T) {
	for rows, want := range map[int64]int{1: 0, 8192: 0, 8193: 1, 16384: 1, 16385: 2, opaque.MaxRows: 27} {
		if m := theilSenOf(t, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, rows,
			"1"); m.Thinning() != want || m.paired() > pairedRows {
			t.Errorf("%d rows: 2^-%d take part", rows, m.Thinning())
		}
	}
	xy := make([][2]float64, 40000)
	m := theilSenOf(t, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 1<<15, "1")
	src := entropy.System()
	p, err := m.gather(t.Context(), src, openedPoints(t, rowsOfPoints(t, xy)), maxPaired)
	if err != nil {
		t.Fatal(err)
	}
	if err := (stattest.Proportion{
		Successes: len(p), Of: stattest.Binomial{Trials: len(xy), Probability: 0.25},
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}

// TestTheilSenWaits: more rows than can be paired are no error of their own, at once; what they get is what those do
// whose pairs take too long.
func TestTheilSenWaits(t *testing.T) {
	m, rows := theilSenOf(t, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 4, "1"),
		rowsOfPoints(t, make([][2]float64, 4))
	if p, err := m.gather(t.Context(), entropy.System(), openedPoints(t, rows), 4); err != nil || len(p) != 4 {
		t.Errorf("four of four: %d, %v", len(p), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if p, err := m.gather(ctx, entropy.System(), openedPoints(t, rows), 3); !errors.Is(err, context.DeadlineExceeded) ||
		p != nil || ctx.Err() == nil {
		t.Errorf("four of three: %d, %v", len(p), err)
	}
}

func TestTheilSenBadParameters(t *testing.T) {
	good := theilSenOf(t, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 100, "1")
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 200))
	for name, change := range map[string]func(*TheilSen){
		"no range":      func(m *TheilSen) { m.X = Range{} },
		"turned":        func(m *TheilSen) { m.Y = Range{big.NewRat(1, 1), new(big.Rat)} },
		"a point":       func(m *TheilSen) { m.Y = Range{new(big.Rat), new(big.Rat)} },
		"far":           func(m *TheilSen) { m.X.High = huge },
		"narrow":        func(m *TheilSen) { m.X.High = new(big.Rat).Inv(huge) },
		"no rows":       func(m *TheilSen) { m.Rows = 0 },
		"many rows":     func(m *TheilSen) { m.Rows = math.MaxInt64 },
		"no epsilon":    func(m *TheilSen) { m.Slope = privacy.Epsilon{} },
		"one width":     func(m *TheilSen) { m.SlopeWidth = privacy.Epsilon{} },
		"no neighbours": func(m *TheilSen) { m.Neighbours = 0 },
		"no unit":       func(m *TheilSen) { m.MaxRows = 0 },
	} {
		m := good
		change(&m)
		if _, err := m.Release(t.Context(), rowsOfPoints(t, nil)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := good.Release(t.Context(), nil); !errors.Is(err, mechanism.ErrRows) {
		t.Errorf("no rows: %v", err)
	}
	wide, err := mechanism.NewRows(mechanism.RowShape{
		Grids: []int{0, 0, 0}, Bound: big.NewRat(1, 1), Most: 1,
		Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := good.Release(t.Context(), wide); !errors.Is(err, mechanism.ErrRows) {
		t.Errorf("two predictors: %v", err)
	}
	if good.Loss().String() != privacy.PureLoss(mechtest.Epsilon(t, "1")).String() {
		t.Errorf("the loss is %v", good.Loss())
	}
}

// TestTheilSenLaw: a median is drawn with P(o) ∝ exp(−c·D(o)), and a half-width likewise. The false-alarm rate is
// below 1e-6.
func TestTheilSenLaw(t *testing.T) {
	const draws = 20000
	src := entropy.System()
	check := func(what string, d []int64, c float64, draw func() int64) {
		total, hits := 0.0, make([]int, len(d))
		for _, x := range d {
			total += math.Exp(-c * float64(x))
		}
		for range draws {
			hits[draw()]++
		}
		for o, x := range d {
			p := math.Exp(-c*float64(x)) / total
			if err := (stattest.Proportion{
				Successes: hits[o], Of: stattest.Binomial{Trials: draws, Probability: p},
				FalseAlarm: mechtest.FalseAlarm / 20,
			}).Check(); err != nil {
				t.Errorf("%s: %d of %v: %v", what, o, d, err)
			}
		}
	}
	for _, counts := range [][]int64{{0, 2, 0, 0, 1, 0}, {0, 0, 0, 0}, {3, 0, 1, 1}} {
		check("median", expanded(counts), 0.25, func() int64 { return chooseMedian(src, big.NewRat(1, 4), counts) })
	}
	d := []int64{5, 2, 0, 0, 3}
	check("half-width", d, 0.5, func() int64 { return chooseWidth(src, big.NewRat(1, 2), d) })
}

// TestTheilSenIsPrivate compares the distributions of a slope over neighbours, candidate by candidate: no probability
// differs by more than ε.
func TestTheilSenIsPrivate(t *testing.T) {
	r := rand.New(rand.NewPCG(85, 86))
	law := func(m TheilSen, p points) []float64 {
		counts, err := p.slopes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		moves, _ := m.moves()
		c, _ := rate(m.Slope, moves, max(int64(len(p))-1, 1)).Float64()
		total, out := 0.0, make([]float64, 0, len(counts))
		for _, d := range expanded(counts) {
			out = append(out, -c*float64(d))
			total += math.Exp(-c * float64(d))
		}
		for i := range out {
			out[i] -= math.Log(total)
		}
		return out
	}
	for _, u := range relations {
		m, worst := theilSenOf(t, u, 8, "5"), 0.0 // of which a slope has 2
		for range 10 {
			p := hardPoints(r, r.IntN(9))
			a, b := law(m, p), law(m, nextTo(r, p, u))
			for i := range a {
				worst = max(worst, math.Abs(a[i]-b[i]))
			}
		}
		if worst > 2+1e-9 {
			t.Errorf("%v: a loss of %g", u, worst)
		}
		t.Logf("%v: at most %.3f of 2", u, worst)
	}
}

// TestTheilSenMovesExhaustively: all tables of up to two rows (three with DITHER_LONG) on a grid of nine points, and
// all that a row more, or another row in the place of one, makes of them. Scores of the slope and of its half-width,
// which are steps, are compared where there are any.
func TestTheilSenMovesExhaustively(t *testing.T) {
	most := 2
	if os.Getenv("DITHER_LONG") != "" {
		most = 3
	}
	add, change := theilSenOf(t, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 3, "300"),
		theilSenOf(t, mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1}, 3, "300")
	at := []int64{0, 2*steepest - 1}
	for _, s := range []int64{-2, -1, 0, 1, 2} { // and halves
		for _, twice := range []int64{2 * s, s} {
			o := twice<<(SlopeBits-1) + steepest
			at = append(at, o-1, o, o+1)
		}
	}
	grid := func(rows []int64) (p points) {
		for _, r := range rows {
			p = append(p, point{(r%3 - 1) << 23, (r/3 - 1) << 29})
		}
		return p
	}
	type scores struct {
		d, width map[lineTerms][]int64
		den      int64
	}
	known := map[string]scores{}
	of := func(rows []int64) scores {
		key := fmt.Sprint(slices.Sorted(slices.Values(rows)))
		if s, ok := known[key]; ok {
			return s
		}
		counts, err := grid(rows).slopes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := int64(len(rows))
		s := scores{map[lineTerms][]int64{}, map[lineTerms][]int64{}, max(n-1, 1)}
		whole := expanded(counts)
		for terms, m := range map[lineTerms]TheilSen{"add": add, "change": change} {
			for _, o := range at {
				s.d[terms] = append(s.d[terms], whole[o])
			}
			for _, slope := range []int64{-1 << 15, -1, 1 << 14} {
				s.width[terms] = append(s.width[terms],
					m.slopeOffset().shortfalls(slopeSums(counts, slope, ladder(2*steepest)), n, s.den)...)
			}
		}
		known[key] = s
		return s
	}
	worst := map[string]float64{}
	compare := func(terms lineTerms, m TheilSen, rows, other []int64) {
		a, b := of(rows), of(other)
		slope, _ := m.moves()
		check := func(what string, d, e []int64, unit int64, bound *big.Rat) {
			got := movement(d, a.den*unit, e, b.den*unit)
			if got.Cmp(bound) > 0 {
				t.Fatalf("%s, %s: %v and %v: scores move by %v, and r is %v", terms, what, rows, other, got, bound)
			}
			share, _ := new(big.Rat).Quo(got, bound).Float64()
			worst[string(terms)+", "+what] = max(worst[string(terms)+", "+what], share)
		}
		check("slope", a.d[terms], b.d[terms], 1, slope)
		o := m.slopeOffset()
		for i := range 3 { // for each slope that was released
			from, to := i*(ladderSteps+1), (i+1)*(ladderSteps+1)
			check("half-width", a.width[terms][from:to], b.width[terms][from:to], offsetUnit, o.moves)
		}
	}
	for _, rows := range mechtest.Multisets(9, most) {
		for r := range int64(9) {
			compare("add", add, rows, append(slices.Clone(rows), r))
			compare("change", change, rows, append(slices.Clone(rows), r)) // a row that did not count
			for i := range rows {
				other := slices.Clone(rows)
				other[i] = r
				compare("change", change, rows, other)
			}
		}
	}
	t.Logf("%d tables; of r at most %v", len(known), worst)
}

// lineTerms are a relation, by name.
type lineTerms string
