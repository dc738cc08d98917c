package regression

import (
	"fmt"
	"math"

	"dither/curator"
	"dither/noise"
	"dither/stats/internal/student"

	"gonum.org/v1/gonum/mat"
)

// meat is an estimate of M = Σ s sᵀ over the scores s of clusters. The sampling error of the coefficients has the
// covariance A⁻¹MA⁻¹, for any dependence of the rows within a cluster, if clusters are independent. Here A is the
// derivative of the fit's equations.
type meat struct {
	estimate *mat.SymDense // with the small-sample correction of [correction]
	clusters float64       // the number of clusters, noisy if they are units
	error    float64       // the standard deviation of its noise
	freedom  float64       // degrees of freedom of intervals
	cut      float64       // the estimated share of tr M that the bound on scores cut

	values          []float64 // the eigenvalues of the noisy Σ s sᵀ
	vectors         mat.Dense // their eigenvectors, as columns
	sd              float64   // bounds the standard deviation of its noise in every direction of norm 1
	lost, lostError float64   // what the bound on scores cut from Σ‖s‖², and the standard deviation of its noise
	laplace         bool
	widening        float64 // the factor of [correction]
}

// scoreSums are noisy sums over the scores of units.
type scoreSums struct {
	products                  []float64 // the upper triangle of Σ s sᵀ
	lost, clusters            float64   // what the bound on scores cut from Σ‖s‖², and the number of units
	sd, lostError, countError float64   // standard deviations of the noise; sd is that of a diagonal entry
	laplace                   bool
}

// meatOf computes the meat from the released scores, for p coefficients and the noisy number of rows.
func (k *clustering) meatOf(m *curator.Moments, p int, rows float64) (*meat, bool) {
	if !k.units {
		v := valueSums{rowsError: m.Sums[1].Noise.StdDev()}
		for _, cell := range valuesWithRows(len(m.Cells), m.Possible) {
			v.scores, v.rows = append(v.scores, m.Sums[0].Reals(cell)), append(v.rows, m.Sums[1].Reals(cell)[0])
		}
		return v.meat(p, rows)
	}
	s := scoreSums{products: m.Sums[0].Reals(0), lost: m.Sums[1].Reals(0)[0], clusters: m.Sums[2].Reals(0)[0]}
	for i, to := range []*float64{&s.sd, &s.lostError, &s.countError} {
		unit, _ := m.Sums[i].Unit.Float64()
		*to = m.Sums[i].Noise.StdDev() * unit
	}
	_, s.laplace = m.Sums[0].Noise.(noise.DiscreteLaplace)
	return s.meat(p, rows, math.Max(1, k.most))
}

// meat computes the meat for units of at most `most` rows. ok is false if the eigenvalues cannot be computed.
func (s scoreSums) meat(p int, rows, most float64) (out *meat, ok bool) {
	raw, next := mat.NewSymDense(p, nil), 0
	for i := range p {
		for j := i; j < p; j++ {
			raw.SetSym(i, j, s.products[next])
			next++
		}
	}
	out = &meat{
		clusters: s.clusters, error: s.countError, sd: s.sd, lost: s.lost, lostError: s.lostError, laplace: s.laplace,
	}
	// The standard deviation of dᵀEd for a direction d of norm 1 is that of a diagonal entry under Gaussian noise, whose
	// entries off the diagonal have half the variance. Under Laplace noise it is at most √(2 − 1/p) times as large,
	// because Σd_i⁴ + 4Σ_{i<j}d_i²d_j² = 2 − Σd_i⁴.
	if s.laplace {
		out.sd *= math.Sqrt(2 - 1/float64(p))
	}
	if !out.decompose(raw) {
		return nil, false
	}
	out.estimate = out.lifted(0, s.lost)
	if t := mat.Trace(out.lifted(0, 0)); t > 0 {
		out.cut = 1 - t/mat.Trace(out.estimate)
	}
	// Clusters of sizes n_g are as informative as (Σn_g)²/Σn_g² ≥ rows/most equal ones. How uneven they are is not
	// released.
	out.correct(rows/most, rows, p)
	return out, true
}

// decompose computes the eigenvalues of the noisy Σ s sᵀ.
func (m *meat) decompose(raw *mat.SymDense) (ok bool) {
	var e mat.EigenSym
	if !e.Factorize(raw, true) {
		return false
	}
	m.values = e.Values(nil)
	e.VectorsTo(&m.vectors)
	return true
}

// lifted returns the noisy Σ s sᵀ plus a multiple of the identity, without its negative eigenvalues, and scaled up in
// proportion to what the bound on scores cut from its trace.
func (m *meat) lifted(by, lost float64) *mat.SymDense {
	out, trace := mat.NewSymDense(len(m.values), nil), 0.0
	for i, v := range m.values {
		if v += by; v > 0 {
			out.SymRankOne(out, v, m.vectors.ColView(i))
			trace += v
		}
	}
	if trace > 0 {
		out.ScaleSym(1+math.Max(0, lost)/trace, out)
	}
	return out
}

// upper returns an upper bound on M in the directions of single coefficients: with it, a normal interval of level alpha
// covers at least as often as it says, however large the noise on M is. A factor turns the normal quantile into
// Student's.
func (m *meat) upper(alpha float64) *mat.SymDense {
	quantile := oneSided(alpha, m.laplace)
	out := m.lifted(quantile*m.sd, m.lost+quantile*m.lostError)
	ratio := math.Max(1, student.Quantile(alpha, m.freedom)/(math.Sqrt2*math.Erfinv(1-alpha)))
	out.ScaleSym(m.widening*ratio*ratio, out)
	return out
}

// valueSums are noisy sums of scores and noisy numbers of rows, by the values of a column.
type valueSums struct {
	scores    [][]float64
	rows      []float64
	rowsError float64 // the standard deviation of the noise of rows
}

// meat computes the meat from the sums of each value. The noise makes each sum longer on average, so M is estimated too
// large rather than too small. A cluster without rows is not counted, unless noise hides the size of an average cluster.
// Then noise is a large part of each sum, and each sum is informative.
func (v valueSums) meat(p int, rows float64) (*meat, bool) {
	out, sum := &meat{}, mat.NewSymDense(p, nil)
	all, squares := 0.0, 0.0
	for i, score := range v.scores {
		n := math.Max(0, v.rows[i])
		all, squares = all+n, squares+n*n
		sum.SymRankOne(sum, 1, mat.NewVecDense(p, score))
		if v.rows[i] > 3*v.rowsError || rows/float64(len(v.scores)) < 6*v.rowsError {
			out.clusters++
		}
	}
	if out.clusters < 2 || !out.decompose(sum) {
		return nil, false
	}
	out.estimate = out.lifted(0, 0)
	// Noise makes Σn² too large on average, so fewer clusters count rather than more.
	out.correct(math.Min(out.clusters, all*all/math.Max(squares, 1)), rows, p)
	return out, true
}

// valuesWithRows returns the cells that can have rows. The sums of the others, which a condition leaves no row, are
// noise alone.
func valuesWithRows(cells int, possible curator.Possible) (out []int) {
	for cell := range cells {
		if possible.Has(cell) {
			out = append(out, cell)
		}
	}
	return out
}

// correct applies small-sample corrections for n rows and p coefficients. The estimate for G clusters gets the factor
// G/(G − 1) · (n − 1)/(n − p), as in statsmodels and Stata. With few clusters that have unequal influence, this is too
// small [Cameron & Miller 2015, section VI]. So the upper bound gets the factor (g/(g − p))², which is that of the
// jackknife if clusters are equal, and intervals have g − p degrees of freedom. Here g is a lower estimate of the number
// of equal clusters that would be as informative.
func (m *meat) correct(g, rows float64, p int) {
	k, all := float64(p), math.Max(2, m.clusters)
	m.estimate.ScaleSym(all/(all-1)*math.Max(1, (rows-1)/math.Max(1, rows-k)), m.estimate)
	m.freedom = math.Max(1, g-k)
	ratio := math.Max(1, g) / m.freedom
	m.widening = math.Max(1, ratio*ratio)
}

// warnings returns what makes the errors by a meat rough.
func (m *meat) warnings() (all []string) {
	if m.cut > 0.1 {
		all = append(all, fmt.Sprintf("A few clusters have very long scores: about %.0f %% of the errors' size is estimated "+
			"from how far they exceed a bound.", 100*m.cut))
	}
	if m.freedom < 19 {
		all = append(all, "There may be fewer than 20 clusters, or a few may have most of the rows: the errors are then rough, "+
			"and the intervals rely on clusters of similar size.")
	}
	return all
}

// oneSided returns a number of standard deviations by which noise is below its mean with probability at most alpha.
// For every size of the noise, an interval whose variance has this margin covers with at least 1 − alpha: if the noise
// is large, the variance is above the true one with that probability, and if the noise is small, the margin outweighs
// its effect. A sum of Laplace noises lies between a Laplace and a normal variable.
func oneSided(alpha float64, laplace bool) float64 {
	normal := math.Max(0, math.Sqrt2*math.Erfinv(1-2*math.Min(alpha, 0.5)))
	if !laplace {
		return normal
	}
	return math.Max(normal, math.Log(1/(2*math.Min(alpha, 0.5)))/math.Sqrt2)
}
