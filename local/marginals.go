package local

import (
	"fmt"

	"dither/internal/entropy"
	"dither/privacy"
)

// Marginals estimates several tables of counts at once: each is a marginal, over the combinations of values of one or
// more attributes. Each person either draws one marginal and reports about it with the whole ε (sampling), or reports
// about all of them with an equal part of ε each (splitting).
//
// Claim: a report is ε-differentially private between any two persons' values of all attributes. Proof: with sampling,
// the marginal is drawn without the values, and the rest is one report with ε. With splitting, a report consists of
// independent ones whose ε add up to at most ε. ∎
type Marginals struct {
	sizes   []uint64 // of the attributes
	sets    [][]int  // the attributes of each marginal
	oracles []*Oracle
	split   bool

	epsilon privacy.Epsilon // the parameters that split and oracles were chosen for
	n       int64
}

// MostMarginals is the largest number of marginals.
const MostMarginals = 1 << 12

// NewMarginals returns the randomizer of marginals for attributes with the given numbers of values. Each set lists the
// attributes of a marginal, from 0. It chooses sampling or splitting, and the best oracle for each marginal, by the
// expected error for n people: the sum over marginals of the variance of a frequency, as a mean over the cells. With
// sampling, this includes that of drawing the people. All marginals together have at most MaxValues cells. The error is
// ErrParameter.
func NewMarginals(e privacy.Epsilon, sizes []uint64, sets [][]int, n int64) (*Marginals, error) {
	if len(sets) < 1 || len(sets) > MostMarginals {
		return nil, fmt.Errorf("%w: there are 1 to %d marginals", ErrParameter, MostMarginals)
	}
	if n < 1 || n > MostReports {
		return nil, fmt.Errorf("%w: the number of people is from 1 to %d", ErrParameter, int64(MostReports))
	}
	m := &Marginals{sizes: sizes, sets: sets, epsilon: e, n: n}
	var cells []uint64
	total := uint64(0)
	for i, set := range sets {
		k := uint64(1)
		for j, a := range set {
			if a < 0 || a >= len(sizes) || j > 0 && a <= set[j-1] {
				return nil, fmt.Errorf("%w: marginal %d lists attributes from 0 to %d, in increasing order", ErrParameter, i,
					len(sizes)-1)
			}
			if sizes[a] < 1 || sizes[a] > MaxValues || k*sizes[a] > MaxValues {
				return nil, fmt.Errorf("%w: marginal %d has no cells, or more than %d", ErrParameter, i, MaxValues)
			}
			k *= sizes[a]
		}
		if total += k; total > MaxValues {
			return nil, fmt.Errorf("%w: the marginals have more than %d cells together", ErrParameter, MaxValues)
		}
		cells = append(cells, k)
	}
	share := int64(len(sets))
	sampled, sampling, err := bestOf(cells, e, max(n/share, 1))
	if err != nil {
		return nil, err
	}
	for _, k := range cells { // of the people
		f := 1 / float64(k)
		sampling += f * (1 - f) * (float64(share) - 1) / float64(n)
	}
	m.oracles = sampled
	if splitted, splitting, err := bestOf(cells, e.Share(1, share), n); err == nil && splitting < sampling {
		m.oracles, m.split = splitted, true // no error, since an ε that is too small for splitting is not for sampling
	}
	return m, nil
}

// bestOf returns the best oracle for each number of cells, and the sum of their variances.
func bestOf(cells []uint64, e privacy.Epsilon, n int64) (oracles []*Oracle, sum float64, err error) {
	for _, k := range cells {
		o, _, err := Choose(k, e, n, 0)
		if err != nil {
			return nil, 0, err
		}
		oracles, sum = append(oracles, o), sum+o.Variance(n, 1/float64(k))
	}
	return oracles, sum, nil
}

// Split reports whether each person reports about all marginals, with an equal part of ε each.
func (m *Marginals) Split() bool { return m.split }

// Epsilon returns the ε of a person's report.
func (m *Marginals) Epsilon() privacy.Epsilon { return m.epsilon }

// Sets returns the attributes of each marginal, which must not be changed.
func (m *Marginals) Sets() [][]int { return m.sets }

// Bits returns the largest size of a report in bits, apart from the number of its marginal.
func (m *Marginals) Bits() (most int) {
	for _, o := range m.oracles {
		if m.split {
			most += o.Bits()
		} else {
			most = max(most, o.Bits())
		}
	}
	return most
}

// mechanisms returns the names of the oracles.
func (m *Marginals) mechanisms() (names []string) {
	for _, o := range m.oracles {
		names = append(names, o.params.Mechanism)
	}
	return names
}

// Oracle returns the oracle of a marginal. Its values are the cells, the last attribute fastest.
func (m *Marginals) Oracle(marginal int) *Oracle { return m.oracles[marginal] }

// MarginalsReport is a report of one person.
type MarginalsReport struct {
	Marginal int      // the drawn one, or 0 with splitting
	Reports  [][]byte // of the drawn marginal, or of all
}

// cell returns the cell of a person in a marginal.
func (m *Marginals) cell(marginal int, person []uint64) (c uint64) {
	for _, a := range m.sets[marginal] {
		c = c*m.sizes[a] + person[a]
	}
	return c
}

// Randomize returns a report about a person's values of all attributes. The error is ErrValue.
func (m *Marginals) Randomize(person []uint64) (MarginalsReport, error) {
	if len(person) != len(m.sizes) {
		return MarginalsReport{}, fmt.Errorf("%w: a person has %d values", ErrValue, len(m.sizes))
	}
	for a, v := range person {
		if v >= m.sizes[a] {
			return MarginalsReport{}, fmt.Errorf("%w: a value of attribute %d is not below %d", ErrValue, a, m.sizes[a])
		}
	}
	var r MarginalsReport
	from, to := 0, len(m.sets)
	if !m.split {
		source := entropy.System()
		r.Marginal = int(source.Below64(uint64(len(m.sets))))
		source.Wipe()
		from, to = r.Marginal, r.Marginal+1
	}
	for i := from; i < to; i++ {
		report, err := m.oracles[i].Randomize(m.cell(i, person))
		if err != nil {
			return MarginalsReport{}, err
		}
		r.Reports = append(r.Reports, report)
	}
	return r, nil
}

// MarginalsTally accumulates reports. It is not safe for concurrent use.
type MarginalsTally struct {
	m  *Marginals
	by []*Tally
}

// NewTally returns a tally without reports.
func (m *Marginals) NewTally() *MarginalsTally {
	t := &MarginalsTally{m: m}
	for _, o := range m.oracles {
		t.by = append(t.by, o.NewTally())
	}
	return t
}

// Reports returns the number of added reports.
func (t *MarginalsTally) Reports() (n int64) {
	if t.m.split {
		return t.by[0].Reports()
	}
	for _, by := range t.by {
		n += by.Reports()
	}
	return n
}

// Add adds a report, or returns ErrReport. If the report is about all marginals and one part is invalid, the parts
// before it stay.
func (t *MarginalsTally) Add(r MarginalsReport) error {
	want := 1
	if t.m.split {
		want = len(t.by)
	}
	if len(r.Reports) != want || r.Marginal < 0 || r.Marginal >= len(t.by) || t.m.split && r.Marginal != 0 {
		return fmt.Errorf("%w: it is not about one of %d marginals, or not about all", ErrReport, len(t.by))
	}
	for i, report := range r.Reports {
		if err := t.by[r.Marginal+i].Add(report); err != nil {
			return err
		}
	}
	return nil
}

// Of returns the number of reports about a marginal.
func (t *MarginalsTally) Of(marginal int) int64 { return t.by[marginal].Reports() }

// Estimate estimates the frequencies of the cells of a marginal. The intervals include the sampling of the people from
// their population. Errors are those of Pool.
func (t *MarginalsTally) Estimate(marginal int, confidence float64) ([]Frequency, error) {
	if marginal < 0 || marginal >= len(t.by) {
		return nil, fmt.Errorf("%w: there is no marginal %d", ErrParameter, marginal)
	}
	return Pool(confidence, t.by[marginal:marginal+1])
}
