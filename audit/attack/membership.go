package attack

import (
	"cmp"
	"fmt"
	"slices"
)

// Membership simulates the tracing of members. The means of many attributes of a group are published, each attribute 0
// or 1, as in a genome. An attacker who knows somebody's attributes, and the frequency of each in the population,
// infers from the means whether that person is in the group.
type Membership struct {
	People     int // of the group
	Attributes int
	Runs       int // groups
	Seed       uint64
}

// Limits of a simulation: of its work, of the attributes, of those of a group, and of the people scored.
const (
	mostCells      = 1 << 31
	mostAttributes = 1 << 20
	mostGroup      = 1 << 27
	mostScored     = 1 << 22
)

// Tracing compares the scores of members with those of others.
type Tracing struct{ in, out []float64 } // scores, the largest first

// Run makes up groups, has a curator answer the sum of each attribute, and scores every member and as many others. The
// score of a person x is ⟨x − p, q − p⟩, where q are the published means and p the frequencies in the
// population [Dwork, Smith, Steinke, Ullman & Vadhan 2015; after Homer et al. 2008]. It is 0 on average for an x that
// has nothing to do with q, and the variance of all the attributes over the number of people for a member: with more
// attributes than people that stands out.
//
// A budget is divided over all the attributes: somebody in another's place changes each sum by at most 1, so all of
// them by at most their number, which is the sensitivity that the noise is for; ε is for that change. Whoever tests
// for a member tells the group from one with a stranger in the member's place: interpret.MostFound bounds how many are
// found. Frequencies are uniform in [0.1, 0.9]. All but the noise of a budget is a function of the seed. The error is
// ErrParameter.
func (m Membership) Run(c Curator) (Tracing, error) {
	switch {
	case m.People < 2 || m.Attributes < 1 || m.Runs < 1:
		return Tracing{}, fmt.Errorf("%w: there are at least 2 people, 1 attribute and 1 run", ErrParameter)
	case m.People > mostScored || m.Attributes > mostAttributes || m.Runs > MostRuns:
		return Tracing{}, fmt.Errorf("%w: there are at most %d people, %d attributes and %d runs",
			ErrParameter, mostScored, mostAttributes, MostRuns)
	}
	group := int64(m.People) * int64(m.Attributes)
	if group > mostGroup || group > mostCells/int64(m.Runs) || int64(m.People) > mostScored/int64(m.Runs) {
		return Tracing{}, fmt.Errorf("%w: people × attributes is at most %d, with runs %d, and people × runs %d",
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

// population draws people with independent attributes of such frequencies.
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

// score is ⟨x − p, q − p⟩.
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

// TruePositives is the share of members found when at most a share alpha of others is taken for members, among the
// people scored. With few people both shares scatter widely around the true ones.
func (t Tracing) TruePositives(alpha float64) float64 {
	found := 0.0
	for _, p := range t.Curve() {
		if p.FalsePositives <= alpha {
			found = p.TruePositives
		}
	}
	return found
}

// Operating is one threshold of a test: the share of others taken for members, and the share of members found.
type Operating struct{ FalsePositives, TruePositives float64 }

// Curve is every threshold's, from none taken to all: the receiver's operating characteristic.
func (t Tracing) Curve() []Operating {
	out := []Operating{{}}
	in, off := 0, 0
	for in < len(t.in) || off < len(t.out) {
		// All whose score is the largest that is left are taken at once.
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
