package regression

import (
	"math"

	"dither/curator"
	"dither/noise"
	"dither/stats/internal/student"

	"gonum.org/v1/gonum/mat"
)

// meat is an estimate of M = Σ s sᵀ over the scores s of clusters. The sampling error of the coefficients has the
// covariance A⁻¹MA⁻¹, for any dependence of the rows within a cluster, if clusters are independent.
type meat struct {
	estimate *mat.SymDense // with the small-sample correction of [correction]
	// upper is an upper bound in the directions of single coefficients: with it, a normal interval of level alpha
	// covers at least as often as it says, however large the noise on M is.
	upper    *mat.SymDense
	clusters float64 // the number of clusters, noisy if they are units
	error    float64 // the standard deviation of its noise
	freedom  float64 // degrees of freedom of intervals
	cut      float64 // the estimated share of tr M that the bound on scores cut
}

// scoreSums are noisy sums over the scores of units.
type scoreSums struct {
	products                  []float64 // the upper triangle of Σ s sᵀ
	lost, clusters            float64   // what the bound on scores cut from Σ‖s‖², and the number of units
	sd, lostError, countError float64   // standard deviations of the noise; sd is that of a diagonal entry
	laplace                   bool
}

// meatOf computes the meat from the released scores, for p coefficients and the noisy number of rows. most is the
// largest number of rows of a unit.
func (k *clustering) meatOf(m *curator.Moments, p int, rows float64, most int64, alpha float64) (*meat, bool) {
	if !k.units {
		return meatOfValues(m, p, rows)
	}
	s := scoreSums{products: m.Sums[0].Reals(0), lost: m.Sums[1].Reals(0)[0], clusters: m.Sums[2].Reals(0)[0]}
	for i, to := range []*float64{&s.sd, &s.lostError, &s.countError} {
		unit, _ := m.Sums[i].Unit.Float64()
		*to = m.Sums[i].Noise.StdDev() * unit
	}
	_, s.laplace = m.Sums[0].Noise.(noise.DiscreteLaplace)
	return s.meat(p, rows, math.Max(1, float64(most)), alpha)
}

// meat computes the meat. ok is false if an eigenvalue cannot be computed.
func (s scoreSums) meat(p int, rows, most, alpha float64) (out *meat, ok bool) {
	raw, next := mat.NewSymDense(p, nil), 0
	for i := range p {
		for j := i; j < p; j++ {
			raw.SetSym(i, j, s.products[next])
			next++
		}
	}
	quantile := oneSided(alpha, s.laplace)
	// The standard deviation of dᵀEd for a direction d of norm 1 is that of a diagonal entry under Gaussian noise, whose
	// entries off the diagonal have half the variance. Under Laplace noise it is at most √(2 − 1/p) times as large,
	// because Σd_i⁴ + 4Σ_{i<j}d_i²d_j² = 2 − Σd_i⁴.
	sd := s.sd
	if s.laplace {
		sd *= math.Sqrt(2 - 1/float64(p))
	}
	lifted := mat.NewSymDense(p, nil)
	lifted.CopySym(raw)
	for i := range p {
		lifted.SetSym(i, i, raw.At(i, i)+quantile*sd)
	}
	out = &meat{clusters: s.clusters, error: s.countError}
	if out.estimate, ok = positive(raw); !ok {
		return nil, false
	}
	if out.upper, ok = positive(lifted); !ok {
		return nil, false
	}
	more := func(of *mat.SymDense, by float64) float64 {
		if t := mat.Trace(of); t > 0 {
			return 1 + math.Max(0, by)/t
		}
		return 1
	}
	share := more(out.estimate, s.lost)
	out.cut = 1 - 1/share
	out.estimate.ScaleSym(share, out.estimate)
	out.upper.ScaleSym(more(out.upper, s.lost+quantile*s.lostError), out.upper)
	// Clusters of sizes n_g are as informative as (Σn_g)²/Σn_g² ≥ rows/most equal ones. If the bound on rows is far above
	// the rows of most units, a third of the units is a better estimate.
	out.correct(math.Max(rows/most, (s.clusters-quantile*s.countError)/3), rows, p)
	return out, true
}

// meatOfValues computes the meat from noisy sums of scores in each cluster. The noise makes each sum longer on average,
// so M is estimated too large rather than too small. A cluster without rows is not counted, unless noise hides the size
// of an average cluster. Then noise is a large part of each sum, and each sum is informative.
func meatOfValues(m *curator.Moments, p int, rows float64) (*meat, bool) {
	out, values := &meat{estimate: mat.NewSymDense(p, nil)}, valuesWithRows(len(m.Cells), m.Possible)
	for _, cell := range values {
		out.estimate.SymRankOne(out.estimate, 1, mat.NewVecDense(p, m.Sums[0].Reals(cell)))
		if noise := m.Sums[1].Noise.StdDev(); m.Sums[1].Reals(cell)[0] > 3*noise || rows/float64(len(values)) < 6*noise {
			out.clusters++
		}
	}
	out.upper = mat.NewSymDense(p, nil)
	out.upper.CopySym(out.estimate)
	out.correct(out.clusters, rows, p)
	return out, out.clusters >= 2
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
	m.upper.ScaleSym(math.Max(1, ratio*ratio), m.upper)
}

// wide returns the meat that intervals of level alpha use. Its factor turns the normal quantile into Student's.
func (m *meat) wide(alpha float64) *meat {
	out := *m
	out.upper = mat.NewSymDense(m.upper.SymmetricDim(), nil)
	ratio := math.Max(1, student.Quantile(alpha, m.freedom)/(math.Sqrt2*math.Erfinv(1-alpha)))
	out.upper.ScaleSym(ratio*ratio, m.upper)
	return &out
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
