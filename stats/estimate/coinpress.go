package estimate

import (
	"math"
	"math/big"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// CoinPress (Biswas, Dong, Kamath and Ullman, "CoinPress: practical private mean and covariance estimation",
// NeurIPS 2020) estimates a mean or a covariance in rounds. Each round measures the rows within a region. The next
// region is centred at the released mean, and is as large as normally distributed rows and the error of that
// release require. The noise of the last round is therefore that of a narrow region, even if the declared bounds
// are loose.
//
// Privacy does not depend on this method. Each round is a sum of vectors whose norm the kernel bounds
// (curator.Moments), at a share of the price, with a region that is a function of earlier releases. The
// distribution of the rows affects only the accuracy: rows outside a region are moved to its edge. Of normally
// distributed rows, at most one in a hundred lies outside the radius [pressGamma].

// maxRounds is the largest number of rounds of CoinPress.
const maxRounds = 10

// pressBeta is the largest fraction of normally distributed rows that a region may exclude.
const pressBeta = 0.01

// pressGamma returns a bound on the norm of a standard normal vector with d coordinates, which the norm exceeds
// with probability at most β = pressBeta: √(d + 2√(d ln 1/β) + 2 ln 1/β) (Laurent and Massart 2000).
func pressGamma(d int) float64 {
	l := math.Log(1 / pressBeta)
	return math.Sqrt(float64(d) + 2*math.Sqrt(float64(d)*l) + 2*l)
}

// pressClip returns the radius of a region about a centre whose error is at most r. Normal rows lie within it with
// high probability. Let γ be [pressGamma]. The triangle inequality gives the radius r + γ. The other radius is √(r²
// + 6r + γ²). It holds because a row's component along the direction of the centre's error exceeds 3 with a
// probability of only one in a thousand.
func pressClip(r float64, d int) float64 {
	g := pressGamma(d)
	return math.Min(math.Sqrt(r*r+6*r+g*g), r+g)
}

// pressShares returns the rounds' shares of the price, in multiples of 1/1000. The last round gets about three
// quarters, and the others share the rest equally.
func pressShares(rounds int) []*big.Rat {
	out, left := make([]*big.Rat, rounds), int64(1000)
	for i := range rounds - 1 {
		each := 250 / int64(rounds-1)
		out[i], left = big.NewRat(each, 1000), left-each
	}
	out[rounds-1] = big.NewRat(left, 1000)
	return out
}

// linearForms are coordinates w = A(u − c) with u = (x − middle)/unit, where x are the columns' values.
type linearForms struct {
	a            [][]float64 // the matrix A, which is lower triangular
	centre       []float64   // the vector c
	middle, unit []float64
}

// plainForms returns the coordinates w = u, with u = (x − middle)/unit and x the columns' values.
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

// leastConstant is the smallest absolute value of a nonzero constant in a question. The kernel refuses smaller
// constants.
const leastConstant = 0x1p-59

// settle sets to 0 the coefficients that are too small to be constants of a question. The forms then equal the
// expressions that the kernel evaluates.
func (f *linearForms) settle() {
	for i, row := range f.a {
		for j := range row {
			if j < i && math.Abs(row[j]/f.unit[j]) < leastConstant {
				row[j] = 0
			}
		}
	}
}

// sql returns the coordinates as SQL expressions of the columns, with decimal constants.
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

// pressSums are the sums of one round: the count, Σw, and for a covariance also Σwwᵀ.
type pressSums = vectorSums

// pressLook is a function that measures one round. It returns the sums of the rows' vectors, whose coordinates are
// f and whose norm is limited to norm.
type pressLook func(round int, f linearForms, norm float64) (*pressSums, error)

// pressed is the outcome of the last round: its sums, and the coordinates and the norm in which they were measured.
type pressed struct {
	sums  *pressSums
	forms linearForms
	norm  float64
	kept  string // a note on why some round found no smaller region; "" if each did
}

// keeps returns the note on a round whose sums found no smaller region.
func keeps(v *pressSums) string {
	switch {
	case counted(v):
		return "In one round, the noisy covariance was not usable: the region was kept."
	case v.law.count.deviation == 0:
		return "CoinPress needs two rows, and the policy declares one unit: the region was kept."
	}
	return "In one round, the count of rows was no larger than its noise: the region was kept."
}

// counted reports whether a noisy count is at least 2 and more than five standard deviations of its noise.
func counted(v *pressSums) bool { return v.count > 5*v.law.count.deviation && v.count >= 2 }

// pressMean runs the rounds for a mean. In the coordinates f, the rows' covariance must be at most the identity,
// and the mean must lie within the given radius of 0.
func pressMean(d int, f linearForms, radius float64, rounds int, look pressLook) (out pressed, err error) {
	out.forms, out.norm = f, radius // the first region contains every row, so no row is moved
	for t := range rounds {
		if out.sums, err = look(t, out.forms, out.norm); err != nil || t == rounds-1 {
			return out, err
		}
		if !counted(out.sums) {
			out.kept = keeps(out.sums)
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

// pressRadius returns a bound on the error of a round's mean. It adds the sampling error and the noise of the sums
// in every coordinate to the error from the noise of the count. The latter is proportional to shift, the distance
// that the centre moves.
func pressRadius(d int, n float64, law vectorLaw, shift float64) float64 {
	sd := law.first[0].deviation / n
	return math.Sqrt(1/n+sd*sd)*pressGamma(d) + 3*shift*law.count.deviation/n
}

// means returns the means of the sums in the columns' units, or NaN if the noisy count is less than 2.
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

// covariances returns the covariance matrix of the sums in the columns' units, with n − 1 in the denominator. Its
// entries are NaN if the noisy count is less than 2.
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
	// Compute A⁻¹ S A⁻ᵀ, where S is the matrix out: twice, transpose and solve for each row.
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

// pressCovariance runs the rounds for a covariance, starting from coordinates in [−1, 1]. Each round derives an
// upper bound on the rows' covariance from its release. The next round uses coordinates centred at the released
// mean, in which that upper bound is the identity.
func pressCovariance(d int, f linearForms, norm float64, rounds int, look pressLook) (out pressed, err error) {
	out.forms, out.norm = f, norm
	for t := range rounds {
		if out.sums, err = look(t, out.forms, out.norm); err != nil || t == rounds-1 {
			return out, err
		}
		next, radius, ok := out.narrowed(d)
		if !ok {
			out.kept = keeps(out.sums)
			continue
		}
		out.forms, out.norm = next, pressClip(radius, d)*(1+math.Sqrt(float64(d)/out.sums.count))
	}
	return out, nil
}

// narrowed returns the coordinates for the next round, and a bound on the error of the mean in them. In these
// coordinates, an upper bound on the covariance is the identity: the released covariance, plus the amount that
// noise may have subtracted from it. ok is false if the noisy count is not [counted], or if the matrices have no
// decomposition.
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
	// A symmetric matrix of noise with variance σ² on the diagonal and σ²/2 off it has a spectral norm of about
	// √(2d)·σ. The norm exceeds this by more than t with probability below exp(−t²/2σ²). Larger noise off the
	// diagonal, as under ε, raises the norm in proportion.
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
	// The error of the mean in the new coordinates has three parts: the noise of the sums, which grows with the
	// trace of the transformation, sampling, and the noise of the count. The sampling variance is at most 1/n in
	// each coordinate.
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

// pressCholesky returns the lower triangular matrix l with l·lᵀ = m. ok is false if m is not positive definite.
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

// pressSolve returns the solution x of l·x = b for a lower triangular matrix l.
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

// pressProduct returns the product of two lower triangular matrices.
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
