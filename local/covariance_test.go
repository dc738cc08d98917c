package local

import (
	"math"
	"testing"
)

// The variance of a sum of estimates of neighbouring values is at most that of their variances and covariances, also
// beside a value that everybody has, where the cells of local hashing depend on each other most. The allowance is 6
// standard deviations of the simulated variance: a false alarm of 1e-9 for each. Without covariances, olh would exceed
// it.
func TestSumsOfNeighbours(t *testing.T) {
	const runs, n, summed = 1600, 200, 15
	for name, e := range map[string]string{"krr": "5", "oue": "1", "ss": "2", "hr": "3", "olh": "4", "flh": "3"} {
		o := oracle(t, name, 64, e)
		values, around := make([]uint64, n), make([]uint64, summed)
		for i := range values {
			values[i] = 20
		}
		for i := range around {
			around[i] = 21 + uint64(i)
		}
		var mean, square, variance float64
		for range runs {
			reports, err := o.RandomizeAll(values)
			if err != nil {
				t.Fatal(err)
			}
			tally := o.NewTally()
			for _, r := range reports {
				if err := tally.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			found, err := Pool(.95, []*Tally{tally}, around...)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, f := range found {
				sum += f.Frequency
				variance += f.Stddev * f.Stddev / runs
			}
			mean, square = mean+sum/runs, square+sum*sum/runs
		}
		allowed := 1 + 6*math.Sqrt(2./runs)
		got, most := square-mean*mean, variance+summed*(summed-1)*o.covariance()/n
		if got > allowed*most {
			t.Errorf("%s: the variance of the sum is %v, not at most %v", name, got, most)
		}
		if name == "olh" && got < allowed*variance {
			t.Errorf("the variance of the sum is %v, and of independent estimates %v: this test shows nothing", got, variance)
		}
	}
}
