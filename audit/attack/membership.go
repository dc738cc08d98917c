package attack

import (
	"cmp"
	"fmt"
	"slices"
)

// Membership simulates the tracing of members. The means of many attributes of a group are published. Each
// attribute is 0 or 1, as in a genome. The attacker knows a person's attributes, and the frequency of each
// attribute in the population. The attacker infers from the means whether the person is in the group.
type Membership struct {
	People     int // number of people in the group
	Attributes int
	Runs       int // number of groups
	Seed       uint64
}

// Limits of a simulation: people × attributes × runs, attributes, people × attributes, and people × runs.
const (
	mostCells      = 1 << 31
	mostAttributes = 1 << 20
	mostGroup      = 1 << 27
	mostScored     = 1 << 22
)

// Tracing holds the scores of members and of other people.
type Tracing struct{ in, out []float64 } // in descending order

// Run makes up groups, asks the curator for the sum of each attribute, and scores every member and as many other
// people. The score of a person x is ⟨x − p, q − p⟩, where q are the published means and p the frequencies in the
// population [Dwork, Smith, Steinke, Ullman & Vadhan 2015; after Homer et al. 2008]. For a person unrelated to q,
// the mean score is 0. For a member it is the total variance of the attributes, divided by the number of people.
// With more attributes than people, the scores of members stand out.
//
// A budget ε is divided among all attributes. If one person takes another's place, each sum changes by at most 1.
// So the sensitivity of all sums is the number of attributes, and ε is for this change. A test for membership
// distinguishes the group from the same group with a stranger in the member's place, so interpret.MostFound bounds
// the share of members found. Frequencies are uniform in [0.1, 0.9]. The seed determines everything except the
// noise of a budget. Invalid fields are ErrParameter.
func (m Membership) Run(c Curator) (Tracing, error) {
	switch {
	case m.People < 2 || m.Attributes < 1 || m.Runs < 1:
		return Tracing{}, fmt.Errorf("%w: there must be at least 2 people, 1 attribute and 1 run", ErrParameter)
	case m.People > mostScored || m.Attributes > mostAttributes || m.Runs > MostRuns:
		return Tracing{}, fmt.Errorf("%w: there can be at most %d people, %d attributes and %d runs",
			ErrParameter, mostScored, mostAttributes, MostRuns)
	}
	group := int64(m.People) * int64(m.Attributes)
	if group > mostGroup || group > mostCells/int64(m.Runs) || int64(m.People) > mostScored/int64(m.Runs) {
		return Tracing{}, fmt.Errorf("%w: people × attributes must be at most %d, people × attributes × runs at "+
			"most %d, and people × runs at most %d",
			ErrParameter, mostGroup, mostCells, mostScored)
	}
	var t Tracing
	for run := range m.Runs {
		made, noise := newStream(m.Seed, uint64(run), 0), newStream(m.Seed, uint64(run), 1)
		p := make([]float64, m.Attributes)
		for j := range p {
			p[j] = 0.1 + 0.8*made.unit()
		}
		members, strangers := population(made, p, m.People), population(made, p, m.People)
		sums := make([]int64, m.Attributes)
		for _, x := range members {
			for j, has := range x {
				if has {
					sums[j]++
				}
			}
		}
		q, err := c.answer(sums, int64(m.Attributes), noise)
		if err != nil {
			return Tracing{}, err
		}
		for j := range q {
			q[j] /= float64(m.People)
		}
		for i := range members {
			t.in, t.out = append(t.in, score(members[i], p, q)), append(t.out, score(strangers[i], p, q))
		}
	}
	for _, scores := range [][]float64{t.in, t.out} {
		slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	return t, nil
}

// population draws people with independent attributes. Attribute j has the frequency p[j].
func population(s *stream, p []float64, people int) [][]bool {
	out := make([][]bool, people)
	for i := range out {
		out[i] = make([]bool, len(p))
		for j := range p {
			out[i][j] = s.unit() < p[j]
		}
	}
	return out
}

// score returns ⟨x − p, q − p⟩ for a person's attributes x, the frequencies p in the population, and the published
// means q.
func score(x []bool, p, q []float64) float64 {
	sum := 0.0
	for j, has := range x {
		if has {
			sum += (1 - p[j]) * (q[j] - p[j])
		} else {
			sum -= p[j] * (q[j] - p[j])
		}
	}
	return sum
}

// TruePositives returns the share of members found by the best threshold that takes at most a share alpha of the
// other people for members. Both are shares of the people scored. With few people, they differ widely from the true
// rates.
func (t Tracing) TruePositives(alpha float64) float64 {
	found := 0.0
	for _, p := range t.Curve() {
		if p.FalsePositives <= alpha {
			found = p.TruePositives
		}
	}
	return found
}

// Operating is the result of one threshold: the share of other people taken for members, and the share of members
// found.
type Operating struct{ FalsePositives, TruePositives float64 }

// Curve returns the results of all thresholds, from the one that takes nobody for a member to the one that takes
// everybody: the receiver operating characteristic.
func (t Tracing) Curve() []Operating {
	out := []Operating{{}}
	in, off := 0, 0
	for in < len(t.in) || off < len(t.out) {
		// All people with the largest remaining score pass the threshold together.
		var largest float64
		if off == len(t.out) || in < len(t.in) && t.in[in] > t.out[off] {
			largest = t.in[in]
		} else {
			largest = t.out[off]
		}
		for in < len(t.in) && t.in[in] == largest {
			in++
		}
		for off < len(t.out) && t.out[off] == largest {
			off++
		}
		out = append(out, Operating{float64(off) / float64(len(t.out)), float64(in) / float64(len(t.in))})
	}
	return out
}
