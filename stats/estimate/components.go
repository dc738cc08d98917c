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
// Noise spreads eigenvalues apart, so those that are nearly equal look different, and their directions look certain.
// So the components whose shares may be equal are found first: those whose intervals meet. They have no direction of
// their own, so the intervals of their loadings reach from -1 to 1. The intervals of their shares reach as far as noise
// spreads equal ones.
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
	if released == nil {
		released = noComponents(d)
		what := "The noisy count of rows %sor a noisy variance is too small: there are no components."
		if p.sums.law.count.deviation == 0 { // the number of rows is declared
			what = "A noisy variance %sis too small: there are no components."
		}
		note = fmt.Sprintf(what, groupWords(keys))
	}
	v := p.sums.room()
	g := released.groups(c, alpha, func(sim *simulator, at [][]float64) *principal { // fresh noise on the covariances at
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
	})
	var hidden []string
	for k, x := range released.share {
		deviation, reach := g.share(k)
		name := fmt.Sprintf("share of component %d", k+1)
		out = append(out, fromInterval(name, keys, x, deviation, x-reach, x+reach, 0, 1))
		if !g.alone(k) && note == "" {
			hidden = append(hidden, strconv.Itoa(k+1))
		}
		for i, column := range s.Columns {
			x, deviation, low, high := released.loading[k][i], math.NaN(), -1.0, 1.0
			if g.alone(k) {
				deviation, low, high = g.loading[k][i].interval()
				low, high = x+low, x+high
			}
			name := fmt.Sprintf("loading %d of %s", k+1, column)
			out = append(out, fromInterval(name, keys, x, deviation, low, high, -1, 1))
		}
	}
	return out, strings.TrimSpace(note + directionNotes(released, hidden, keys))
}

// directionNotes returns notes on components without a direction, and on a share below 0.
func directionNotes(p *principal, hidden []string, keys []any) (note string) {
	if len(hidden) > 0 {
		note = fmt.Sprintf("Noise hides the directions of components %s %sbecause their shares may be equal. Their loadings "+
			"may be any from -1 to 1.", strings.Join(hidden, ", "), groupWords(keys))
	}
	if p.share[len(p.share)-1] < 0 { // the least one
		note += fmt.Sprintf(" Noise moves a share %sbelow 0. It is set to 0, so the shares add up to more than 1.", groupWords(keys))
	}
	return strings.TrimSpace(note)
}

// principal are the components of a correlation matrix, the largest first.
type principal struct {
	share   []float64   // eigenvalues, divided by their sum
	loading [][]float64 // eigenvectors
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
