package mean

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"dither/internal/entropy"
	"dither/local/internal/coin"
	"dither/privacy"
)

// Vector randomizes vectors of d numbers from −1 to 1. Each person draws s of the coordinates, and sends reports
// about these alone, with ε/s each [Wang et al. 2019].
//
// Claim: Vector is ε-differentially private between any two vectors. Proof: the coordinates are drawn without the
// vector, and the report includes them. Given these, it has s independent reports, whose losses add up to ε. ∎
type Vector struct {
	d, s int
	each *Randomizer

	epsilon privacy.Epsilon // of a report
}

// MaxCoordinates is the largest length of a vector.
const MaxCoordinates = 1 << 16

// NewVector returns the randomizer of vectors of d numbers. It draws s = ⌊ε/2.5⌋ coordinates, at least 1 and at most
// d. The error is ErrParameter.
func NewVector(p Params, d int) (*Vector, error) {
	if d < 1 || d > MaxCoordinates {
		return nil, fmt.Errorf("%w: a vector has 1 to %d numbers", ErrParameter, MaxCoordinates)
	}
	s := p.Epsilon.Rat()
	s.Quo(s, big.NewRat(5, 2))
	v := &Vector{d: d, epsilon: p.Epsilon, s: min(max(int(new(big.Int).Quo(s.Num(), s.Denom()).Int64()), 1), d)}
	var err error
	v.each, err = New(Params{p.Mechanism, p.Epsilon.Share(1, int64(v.s))})
	return v, err
}

// Sampled returns s, the number of coordinates in a report, and their randomizer.
func (v *Vector) Sampled() (s int, each *Randomizer) { return v.s, v.each }

// Bits returns the largest size of a report in bits, with the indices of its coordinates.
func (v *Vector) Bits() int { return v.s * (v.each.Bits() + bits.Len(uint(v.d-1))) }

// Coordinate is a report about one coordinate.
type Coordinate struct {
	Index  int
	Report Report
}

// Randomize returns the report about a vector: s coordinates in increasing order. The error is ErrValue.
func (v *Vector) Randomize(vector []float64) ([]Coordinate, error) {
	if len(vector) != v.d {
		return nil, fmt.Errorf("%w: a vector has %d numbers, not %d", ErrValue, v.d, len(vector))
	}
	for i, x := range vector {
		if !(x >= -1 && x <= 1) {
			return nil, fmt.Errorf("%w: coordinate %d is %v", ErrValue, i, x)
		}
	}
	source := entropy.System()
	defer source.Wipe()
	return v.randomize(coin.Random{Source: source}, vector), nil
}

// randomize draws a uniform set of coordinates: coordinate i is drawn with probability (missing)/(left).
func (v *Vector) randomize(c coin.Chooser, vector []float64) []Coordinate {
	out := make([]Coordinate, 0, v.s)
	for i, x := range vector {
		if c.Below(uint64(v.d-i)) < uint64(v.s-len(out)) {
			out = append(out, Coordinate{i, v.each.randomize(c, x)})
		}
	}
	return out
}

// VectorTally averages reports about vectors.
type VectorTally struct {
	v  *Vector
	by []*Tally
	n  int64
}

// NewTally returns a tally without reports.
func (v *Vector) NewTally() *VectorTally {
	t := &VectorTally{v: v, by: make([]*Tally, v.d)}
	for i := range t.by {
		t.by[i] = v.each.NewTally()
	}
	return t
}

// Reports returns the number of added reports.
func (t *VectorTally) Reports() int64 { return t.n }

// Add adds a report, or returns ErrReport and adds nothing.
func (t *VectorTally) Add(report []Coordinate) error {
	if len(report) != t.v.s {
		return fmt.Errorf("%w: a report has %d coordinates", ErrReport, t.v.s)
	}
	for i, c := range report {
		if c.Index < 0 || c.Index >= t.v.d || i > 0 && c.Index <= report[i-1].Index {
			return fmt.Errorf("%w: coordinates are from 0 to %d, and increase", ErrReport, t.v.d-1)
		}
		if _, err := t.v.each.Value(c.Report); err != nil {
			return err
		}
	}
	t.n++
	for _, c := range report {
		if err := t.by[c.Index].Add(c.Report); err != nil {
			return err
		}
	}
	return nil
}

// Estimate estimates the mean of each coordinate from the reports about it. Its senders are a random sample of all
// senders, and the interval covers this sampling, because it covers the spread of the numbers. With corrected, the
// confidence is that of all d intervals together (Bonferroni). The error is ErrParameter.
func (t *VectorTally) Estimate(confidence float64, corrected bool) ([]Estimate, error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, fmt.Errorf("%w: the confidence is above 0 and below 1", ErrParameter)
	}
	if corrected {
		confidence = 1 - (1-confidence)/float64(t.v.d)
	}
	out := make([]Estimate, t.v.d)
	for i, x := range t.by {
		var err error
		if out[i], err = x.Estimate(math.Min(confidence, 1-1e-15)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
