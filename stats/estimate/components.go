package estimate

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"dither/curator"
	"dither/stats/internal/request"
)

// Components estimates the principal components of a sample's columns: the eigenvalues of their correlation matrix, as
// shares of its trace, and the loadings of each component, which are an eigenvector. It measures what [Covariance]
// does.
// The largest loading of a component is positive.
//
// Noise spreads the eigenvalues apart, so the largest ones come out too large, and the directions look more certain than
// they are. So the intervals add fresh noise to a matrix whose eigenvalues are moved together by as much as fresh noise
// spreads those of the release. They reach as far to both sides. Components with equal eigenvalues have no direction of
// their own: where the intervals of two shares meet, those of the loadings reach from -1 to 1.
func Components(ctx context.Context, c *curator.Session, s Sample) (*Result, error) {
	p, err := PlanComponents(ctx, c, s)
	return run(ctx, p, err)
}

// PlanComponents returns the plan that Components would carry out. It spends nothing.
func PlanComponents(ctx context.Context, c *curator.Session, s Sample) (*Plan, error) {
	return planComponents(ctx, c, s)
}

// mostComponents is the largest number of columns: each of many draws takes the cube of it.
const mostComponents = 20

func planComponents(ctx context.Context, k asker, s Sample) (*Plan, error) {
	if err := s.check(MethodBounded); err != nil {
		return nil, err
	}
	if d := len(s.Columns); d < 2 || d > mostComponents {
		return nil, request.Misuse(fmt.Sprintf("name 2 to %d columns", mostComponents), "components of %d columns", d)
	}
	p := &Plan{Kind: "components", Method: MethodBounded, Why: "It is the only method of components."}
	return p, boundedCovariance(ctx, k, s, p, componentValues)
}

// componentValues returns the shares and the loadings of a cell. If the noisy count or a noisy variance is too small,
// note says so.
func componentValues(
	p *pressed, s Sample, _ [][2]float64, keys []any, alpha float64, symmetric func(int) bool,
) (out []Value, note string) {
	d := len(s.Columns)
	c := p.covariances(p.sums)
	released := components(c)
	draws := newSpreads(d+d*d, alpha)
	sim, v := newSimulator(), p.sums.room()
	around := func(at [][]float64) *principal { // fresh noise on the covariances at
		p.sums.drawn(sim, symmetric, v)
		drawn := p.covariances(v)
		for i := range d {
			for j := range d {
				drawn[i][j] += at[i][j] - c[i][j]
			}
		}
		if s.Population {
			sampleNormal(sim, drawn, at, p.sums.count)
		}
		return components(drawn)
	}
	var at [][]float64
	var middle *principal
	if released != nil {
		at = released.gathered(c, func() *principal { return around(c) })
		middle = components(at)
	}
	for draw := range drawsFor(alpha) {
		var of *principal
		if middle != nil {
			of = around(at)
		}
		for k := range d {
			if of == nil {
				for i := range d + 1 {
					draws[k*(d+1)+i].add(math.NaN())
				}
				continue
			}
			off := of.share[k] - middle.share[k]
			if draw%2 == 1 { // as far to both sides
				off = -off
			}
			draws[k*(d+1)].add(released.share[k] + off)
			sign := 1.0
			if dot(released.loading[k], of.loading[k]) < 0 {
				sign = -1
			}
			for i := range d {
				x := sign * of.loading[k][i]
				if draw%4 >= 2 { // a loading near 1 can only shrink
					x = 2*released.loading[k][i] - x
				}
				draws[k*(d+1)+1+i].add(x)
			}
		}
	}
	shares := make([]Value, d)
	for k := range d {
		share := math.NaN()
		if released != nil {
			share = released.share[k]
		}
		shares[k] = fromDraws(fmt.Sprintf("share of component %d", k+1), keys, share, draws[k*(d+1)], 0, 1)
	}
	var hidden []string
	for k := range d {
		out = append(out, shares[k])
		known := apart(shares, k)
		if !known && released != nil {
			hidden = append(hidden, strconv.Itoa(k+1))
		}
		for i, column := range s.Columns {
			loading := math.NaN()
			if released != nil {
				loading = released.loading[k][i]
			}
			v := fromDraws(fmt.Sprintf("loading %d of %s", k+1, column), keys, loading, draws[k*(d+1)+1+i], -1, 1)
			if !known {
				v.Low, v.High = numberOf(-1), numberOf(1)
			}
			out = append(out, v)
		}
	}
	switch {
	case released == nil:
		note = fmt.Sprintf("The noisy count of rows %sor a noisy variance is too small: there are no components.",
			groupWords(keys))
	case len(hidden) > 0:
		note = fmt.Sprintf("Noise hides the directions of the components %s%s, because their shares may be equal. Their loadings "+
			"may be any from -1 to 1.", groupWords(keys), strings.Join(hidden, ", "))
	}
	return out, note
}

// apart reports whether the share of component k differs from those of its neighbours, by their intervals. Otherwise any
// direction between the two is possible.
func apart(shares []Value, k int) bool {
	differ := func(i int) bool { // component i from the next
		return i < 0 || i+1 >= len(shares) ||
			shares[i].Low != nil && shares[i+1].High != nil && shares[i].Low.Real > shares[i+1].High.Real
	}
	return differ(k-1) && differ(k)
}

// principal are the components of a correlation matrix, the largest first.
type principal struct {
	share   []float64   // eigenvalues, divided by their sum
	loading [][]float64 // eigenvectors
}

// gatheringDraws is the number of draws by which eigenvalues are moved together. Their mean is exact enough: its error is a
// thirtieth of the noise.
const gatheringDraws = 1000

// gathered returns covariances like c, whose correlations have the components p, but with eigenvalues that are moved
// together by as much as fresh noise moves them apart, on average. Each draw returns the components of c with fresh noise,
// or nil.
func (p *principal) gathered(c [][]float64, draw func() *principal) [][]float64 {
	d, sums, n := len(c), make([]float64, len(c)), 0.0
	for range gatheringDraws {
		if of := draw(); of != nil {
			n++
			for k, x := range of.share {
				sums[k] += x
			}
		}
	}
	if n == 0 {
		return c
	}
	shares, total := make([]float64, d), 0.0
	for k, x := range p.share {
		shares[k] = math.Max(0, 2*x-sums[k]/n)
	}
	for range d { // order them by averaging neighbours in the wrong order
		for k := 1; k < d; k++ {
			if shares[k] > shares[k-1] {
				shares[k] = (shares[k] + shares[k-1]) / 2
				shares[k-1] = shares[k]
			}
		}
	}
	for _, x := range shares {
		total += x
	}
	out := make([][]float64, d)
	for i := range out {
		out[i] = make([]float64, d)
		for j := range d {
			for k, x := range shares {
				out[i][j] += float64(d) * x / total * p.loading[k][i] * p.loading[k][j]
			}
			out[i][j] *= math.Sqrt(c[i][i] * c[j][j])
		}
	}
	return out
}

// components returns the components of the correlations of a covariance matrix. It returns nil if a variance is not
// positive.
func components(c [][]float64) *principal {
	d := len(c)
	r := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			if !(c[i][i] > 0 && c[j][j] > 0) {
				return nil
			}
			x := c[i][j] / math.Sqrt(c[i][i]*c[j][j])
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil
			}
			r.SetSym(i, j, x)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(r, true) {
		return nil
	}
	values := eigen.Values(nil) // in ascending order
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	out := &principal{}
	for k := d - 1; k >= 0; k-- {
		out.share = append(out.share, values[k]/float64(d))
		loading, largest := make([]float64, d), 0.0
		for i := range d {
			loading[i] = vectors.At(i, k)
			if math.Abs(loading[i]) > math.Abs(largest)+1e-9 {
				largest = loading[i]
			}
		}
		if largest < 0 {
			for i := range loading {
				loading[i] = -loading[i]
			}
		}
		out.loading = append(out.loading, loading)
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// sampleNormal adds to a drawn covariance matrix the sampling error of n rows of a normal distribution with covariance
// c:
// L·G·Lᵀ/√n, where c = L·Lᵀ and G is symmetric, with normal entries of variance 1 off the diagonal and 2 on it. That is
// the limit of a Wishart matrix.
func sampleNormal(sim *simulator, drawn, c [][]float64, n float64) {
	d := len(c)
	r := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			r.SetSym(i, j, c[i][j])
		}
	}
	var cholesky mat.Cholesky
	for ridge := 1e-9; !cholesky.Factorize(r); ridge *= 10 { // noise may have made it indefinite
		for i := range d {
			r.SetSym(i, i, r.At(i, i)+ridge*math.Abs(c[i][i])+1e-300)
		}
		if ridge > 1e9 {
			return
		}
	}
	var l mat.TriDense
	cholesky.LTo(&l)
	g := mat.NewSymDense(d, nil)
	for i := range d {
		g.SetSym(i, i, math.Sqrt2*sim.normal())
		for j := i + 1; j < d; j++ {
			g.SetSym(i, j, sim.normal())
		}
	}
	var half, whole mat.Dense
	half.Mul(&l, g)
	whole.Mul(&half, l.T())
	for i := range d {
		for j := range d {
			drawn[i][j] += whole.At(i, j) / math.Sqrt(max(n, 2))
		}
	}
}
