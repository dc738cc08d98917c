package estimate

import (
	"math"
	"math/big"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// CoinPress (Biswas, Dong, Kamath and Ullman, "CoinPress: practical private mean and covariance estimation", NeurIPS
// 2020) estimates in rounds. Each measures the rows within a region that the rounds before have found: about what was
// released, as large as rows of a normal distribution, the error of what was found, and no more. So its noise is that
// of a region that fits, where the declared bounds are loose.
//
// Privacy rests on nothing of this: each round is sums of vectors whose norm the kernel enforces (curator.Moments), at
// its share of the price, with a region that is a function of earlier releases. What the distribution is decides only
// how good the estimate is: rows beyond the region are moved to its edge. Of normal rows one in a hundred at most lies
// outside γ.

// maxRounds bounds a CoinPress.
const maxRounds = 10

// pressBeta is the part of normal rows that a region may leave out.
const pressBeta = 0.01

// pressGamma bounds the norm of a standard normal vector of d coordinates but with probability β: √(d + 2√(d ln
// 1/β) + 2 ln 1/β) (Laurent and Massart 2000).
func pressGamma(d int) float64 {
	l := math.Log(1 / pressBeta)
	return math.Sqrt(float64(d) + 2*math.Sqrt(float64(d)*l) + 2*l)
}

// pressClip is the radius about a centre that is at most r off, within which normal rows lie: r + γ by the triangle
// inequality; and √(r² + 6r + γ²), since along the way to the centre, one direction, a row is at most 3 off but
// for one in a thousand.
func pressClip(r float64, d int) float64 {
	g := pressGamma(d)
	return math.Min(math.Sqrt(r*r+6*r+g*g), r+g)
}

// pressShares are the rounds' shares of the price, in thousandths: about three quarters for the last, and the rest in
// equal parts.
func pressShares(rounds int) []*big.Rat {
	out, left := make([]*big.Rat, rounds), int64(1000)
	for i := range rounds - 1 {
		each := 250 / int64(rounds-1)
		out[i], left = big.NewRat(each, 1000), left-each
	}
	out[rounds-1] = big.NewRat(left, 1000)
	return out
}

// linearForms are coordinates w = A(u − c) of u = (x − middle)/unit, of columns x.
type linearForms struct {
	a            [][]float64 // lower triangular
	centre       []float64   // c
	middle, unit []float64
}

// plainForms are u themselves.
func plainForms(middle, unit []float64) linearForms {
	d := len(unit)
	f := linearForms{centre: make([]float64, d), middle: middle, unit: unit}
	for i := range d {
		row := make([]float64, d)
		row[i] = 1
		f.a = append(f.a, row)
	}
	return f
}

// leastConstant is below every constant of a question but 0: the kernel refuses smaller ones.
const leastConstant = 0x1p-59

// settle makes 0 of those coefficients that no question can have: the coordinates are what they are asked as.
func (f *linearForms) settle() {
	for i, row := range f.a {
		for j := range row {
			if j < i && math.Abs(row[j]/f.unit[j]) < leastConstant {
				row[j] = 0
			}
		}
	}
}

// sql are the coordinates as expressions of the columns, with decimal constants.
func (f linearForms) sql(columns []string) []string {
	out := make([]string, len(f.a))
	for i, row := range f.a {
		var b strings.Builder
		constant := 0.0
		for j := 0; j <= i; j++ {
			if row[j] == 0 {
				continue
			}
			if b.Len() > 0 {
				b.WriteString(" + ")
			}
			b.WriteString("(" + sqlNumber(row[j]/f.unit[j]) + ") * (" + columns[j] + ")")
			constant -= row[j] * (f.middle[j]/f.unit[j] + f.centre[j])
		}
		if math.Abs(constant) < leastConstant {
			constant = 0
		}
		b.WriteString(" + (" + sqlNumber(constant) + ")")
		out[i] = b.String()
	}
	return out
}

// pressSums are one round's sums: the count, Σw, and of a covariance Σwwᵀ.
type pressSums = vectorSums

// pressLook measures a round: sums of the rows' vectors within a norm.
type pressLook func(round int, f linearForms, norm float64) (*pressSums, error)

// pressed is what the last round left: its sums, of the vectors f.
type pressed struct {
	sums    *pressSums
	forms   linearForms
	norm    float64
	unusual bool // a round's count was no more than its noise, so that it found nothing
}

// counted tells whether a noisy count is more than its noise may be.
func counted(v *pressSums) bool { return v.count > 5*v.law.count.deviation && v.count >= 2 }

// pressMean finds where the mean is, of rows whose covariance is at most the identity in the coordinates u, in a ball
// of a radius about 0.
func pressMean(d int, f linearForms, radius float64, rounds int, look pressLook) (out pressed, err error) {
	out.forms, out.norm = f, radius // no row lies outside: nothing is scaled in the first round
	for t := range rounds {
		if out.sums, err = look(t, out.forms, out.norm); err != nil || t == rounds-1 {
			return out, err
		}
		if !counted(out.sums) {
			out.unusual = true
			continue
		}
		n, shift := out.sums.count, 0.0
		moved := make([]float64, d)
		for i, x := range out.sums.first[0] {
			moved[i] = out.forms.centre[i] + x/n
			shift = math.Hypot(shift, x/n)
		}
		out.forms.centre = moved
		out.norm = pressClip(pressRadius(d, n, out.sums.law, shift), d)
	}
	return out, nil
}

// pressRadius is how far off a round's mean may be: sampling and the sums' noise in every coordinate, and the count's
// noise along the way.
func pressRadius(d int, n float64, law vectorLaw, shift float64) float64 {
	sd := law.first[0].deviation / n
	return math.Sqrt(1/n+sd*sd)*pressGamma(d) + 3*shift*law.count.deviation/n
}

// means are the sums' means in the columns' units; NaN where there are too few rows.
func (p *pressed) means(v *pressSums) []float64 {
	d := len(p.forms.unit)
	out := make([]float64, d)
	if v.count < 2 {
		return pressNaN(out)
	}
	w := make([]float64, d)
	for i, x := range v.first[0] {
		w[i] = x / v.count
	}
	w = pressSolve(p.forms.a, w)
	for i := range out {
		out[i] = p.forms.middle[i] + p.forms.unit[i]*(p.forms.centre[i]+w[i])
	}
	return out
}

// covariances is the covariance matrix of the sums in the columns' units, with n − 1 below.
func (p *pressed) covariances(v *pressSums) [][]float64 {
	d := len(p.forms.unit)
	out := pressZero(d)
	if v.count < 2 {
		for _, row := range out {
			pressNaN(row)
		}
		return out
	}
	for i := range d {
		for j := range d {
			out[i][j] = (v.products[0][i][j] - v.first[0][i]*v.first[0][j]/v.count) / (v.count - 1)
		}
	}
	// A⁻¹ S A⁻ᵀ: solve for the columns, transpose, and again.
	for range 2 {
		out = pressTransposed(out)
		for i := range out {
			out[i] = pressSolve(p.forms.a, out[i])
		}
	}
	for i := range d {
		for j := range d {
			out[i][j] *= p.forms.unit[i] * p.forms.unit[j]
		}
	}
	return out
}

// pressCovariance finds a region that fits rows with any covariance, from coordinates u in [−1, 1]: each round bounds
// the rows' covariance from above by what it released, and the next is about its mean, in coordinates in which that
// bound is the identity.
func pressCovariance(d int, f linearForms, norm float64, rounds int, look pressLook) (out pressed, err error) {
	out.forms, out.norm = f, norm
	for t := range rounds {
		if out.sums, err = look(t, out.forms, out.norm); err != nil || t == rounds-1 {
			return out, err
		}
		next, radius, ok := out.narrowed(d)
		if !ok {
			out.unusual = true
			continue
		}
		out.forms, out.norm = next, pressClip(radius, d)*(1+math.Sqrt(float64(d)/out.sums.count))
	}
	return out, nil
}

// narrowed are the coordinates in which the covariance that was released, raised by what its noise may have taken from
// it, is the identity; and how far off the mean may be in them. It is not ok where the count is no more than noise.
func (p *pressed) narrowed(d int) (next linearForms, radius float64, ok bool) {
	v := p.sums
	if !counted(v) {
		return next, 0, false
	}
	n := v.count
	m := make([]float64, d)
	for i, x := range v.first[0] {
		m[i] = x / n
	}
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, v.products[0][i][j]/n-m[i]*m[j])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return next, 0, false
	}
	// Noise of variance σ² on the diagonal and σ²/2 off it has a spectral norm of about √(2d)·σ, and more than t
	// above that with probability below exp(−t²/2σ²). Off-diagonal noise that is larger, as under ε, makes it larger
	// in proportion.
	deviation := math.Max(v.law.products[0].deviation, math.Sqrt2*v.law.off[0].deviation)
	raise := deviation * (math.Sqrt(2*float64(d)) + math.Sqrt(2*math.Log(2/pressBeta))) / n
	values := e.Values(nil)
	var q mat.Dense
	e.VectorsTo(&q)
	upper := pressZero(d)
	for i := range d {
		for j := range d {
			for k, l := range values {
				upper[i][j] += q.At(i, k) * (math.Max(l, 0) + raise) * q.At(j, k)
			}
		}
	}
	l, ok := pressCholesky(upper)
	if !ok {
		return next, 0, false
	}
	next = linearForms{a: pressProduct(pressInverse(l), p.forms.a), middle: p.forms.middle, unit: p.forms.unit}
	next.settle()
	next.centre = pressSolve(p.forms.a, m)
	for i, c := range p.forms.centre {
		next.centre[i] += c
	}
	// The mean's error in the new coordinates: its noise, times the trace of the transformation; sampling, in
	// coordinates in which it is at most 1/n.
	inverse, trace := pressInverse(l), 0.0
	for _, row := range inverse {
		for _, x := range row {
			trace += x * x
		}
	}
	shift := 0.0
	for _, x := range pressSolve(l, m) {
		shift = math.Hypot(shift, x)
	}
	sd := v.law.first[0].deviation / n
	radius = 2*sd*math.Sqrt(trace) + pressGamma(d)/math.Sqrt(n) + 3*shift*v.law.count.deviation/n
	return next, radius, true
}

func pressZero(d int) [][]float64 {
	out := make([][]float64, d)
	for i := range out {
		out[i] = make([]float64, d)
	}
	return out
}

func pressNaN(x []float64) []float64 {
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

func pressTransposed(m [][]float64) [][]float64 {
	out := pressZero(len(m))
	for i := range m {
		for j := range m {
			out[j][i] = m[i][j]
		}
	}
	return out
}

// pressCholesky is the lower triangular L of LLᵀ = m; not ok where m is not positive definite.
func pressCholesky(m [][]float64) (l [][]float64, ok bool) {
	l = pressZero(len(m))
	for i := range m {
		for j := 0; j <= i; j++ {
			sum := m[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				if !(sum > 0) || math.IsInf(sum, 0) {
					return nil, false
				}
				l[i][i] = math.Sqrt(sum)
				continue
			}
			l[i][j] = sum / l[j][j]
		}
	}
	return l, true
}

// pressSolve is x of Lx = b.
func pressSolve(l [][]float64, b []float64) []float64 {
	x := make([]float64, len(b))
	for i := range l {
		sum := b[i]
		for j := range i {
			sum -= l[i][j] * x[j]
		}
		x[i] = sum / l[i][i]
	}
	return x
}

func pressInverse(l [][]float64) [][]float64 {
	out := pressZero(len(l))
	for j := range l {
		unit := make([]float64, len(l))
		unit[j] = 1
		for i, x := range pressSolve(l, unit) {
			out[i][j] = x
		}
	}
	return out
}

// pressProduct is the product of two lower triangular matrices.
func pressProduct(a, b [][]float64) [][]float64 {
	out := pressZero(len(a))
	for i := range a {
		for j := 0; j <= i; j++ {
			for k := j; k <= i; k++ {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}
