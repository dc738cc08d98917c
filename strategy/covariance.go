package strategy

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// covariance is the covariance of estimated cells, with the sums that give the variance of any interval in constant
// time.
type covariance struct {
	n     int
	cells *mat.SymDense
	sums  []float64 // sums[i·(n+1)+j] = Σ cells over rows < i and columns < j
}

func newCovariance(cells *mat.SymDense) *covariance {
	n := cells.SymmetricDim()
	c := &covariance{n: n, cells: cells, sums: make([]float64, (n+1)*(n+1))}
	for i := range n {
		above, row := c.sums[i*(n+1):(i+1)*(n+1)], c.sums[(i+1)*(n+1):(i+2)*(n+1)]
		total := 0.0
		for j := range n {
			total += cells.At(i, j)
			row[j+1] = above[j+1] + total
		}
	}
	return c
}

// interval returns the variance of the sum of the cells low … high−1.
func (c *covariance) interval(low, high int) float64 {
	n := c.n + 1
	return c.sums[high*n+high] - c.sums[low*n+high] - c.sums[high*n+low] + c.sums[low*n+low]
}

// times returns the covariances of the cells with Σ_j row[j]·x_j. A run of equal coefficients takes one step for each
// cell.
func (c *covariance) times(row []float64) []float64 {
	out, n := make([]float64, c.n), c.n+1
	for low, high := 0, 0; low < len(row); low = high {
		for high = low + 1; high < len(row) && row[high] == row[low]; high++ {
		}
		switch v := row[low]; {
		case v == 0:
		case high == low+1: // without the rounding of sums
			for i := range out {
				out[i] += v * c.cells.At(i, low)
			}
		default:
			for i := range out {
				above, at := c.sums[i*n:(i+1)*n], c.sums[(i+1)*n:(i+2)*n]
				out[i] += v * ((at[high] - above[high]) - (at[low] - above[low]))
			}
		}
	}
	return out
}

// query returns the variance of Σ_j row[j]·x_j.
func (c *covariance) query(row []float64) float64 {
	total := 0.0
	for i, a := range row {
		if a == 0 {
			continue
		}
		part := a * c.cells.At(i, i)
		for j := i + 1; j < len(row); j++ {
			part += 2 * row[j] * c.cells.At(i, j)
		}
		total += a * part
	}
	return total
}

// Expected is the expected error of the answers to a workload, in units of the noise of one count at the same price.
type Expected struct {
	RMSE    float64 // the root of the mean variance of the answers, weighted if the workload is
	Maximum float64 // the root of the largest variance of an answer
}

// expected returns the errors of the workload's answers.
func (c *covariance) expected(w Workload) Expected {
	total, most := 0.0, 0.0
	for _, p := range w.parts {
		sum := 0.0
		add := func(v float64) { sum, most = sum+v, max(most, v) }
		p.each(w.cells, func(low, high int) { add(c.interval(low, high)) })
		for _, row := range p.rows {
			add(c.query(row))
		}
		total += p.weight * sum
	}
	return Expected{RMSE: math.Sqrt(max(total/w.Weight(), 0)), Maximum: math.Sqrt(most)}
}
