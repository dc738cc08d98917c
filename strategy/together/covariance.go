package together

import "dither/noise"

// combined is an answer as a combination of released numbers: their indices in increasing order, part by part, and the
// weight of each.
type combined struct {
	part    int
	rows    []int
	weights []float64
}

// joint has what determines the covariances of answers.
type joint struct {
	of    func(i int) ([]combined, error)
	noise []noise.Distribution // of each part
	unit  float64
}

// Covariance returns the covariance of the noise of two of the answers, by their indices in Counts. So the variance of the
// difference of two answers is the sum of their variances less twice the covariance. It returns an error for an index that
// is out of range.
func (a *Answer) Covariance(i, j int) (float64, error) {
	if n := len(a.Counts); i < 0 || i >= n || j < 0 || j >= n {
		return 0, misuse("", "there are answers 0 to %d, not %d and %d", n-1, i, j)
	}
	one, err := a.errors.of(i)
	if err != nil {
		return 0, err
	}
	other, err := a.errors.of(j)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, x := range one {
		for _, y := range other {
			if x.part == y.part {
				sum += dot(x, y) * a.errors.noise[x.part].Variance()
			}
		}
	}
	return sum * a.errors.unit * a.errors.unit, nil
}

// dot returns the product of two combinations of the numbers of one part.
func dot(x, y combined) (sum float64) {
	at := map[int]float64{}
	for k, row := range x.rows {
		at[row] += x.weights[k]
	}
	for k, row := range y.rows {
		sum += at[row] * y.weights[k]
	}
	return sum
}
