package ours

import (
	"math/big"
	"strings"

	"dither/mechanism/stream"
)

// The example is a session of queries with values 0 or 1 against the threshold 1. It ends after a given number of
// answers above the threshold. The law lists gaps up to 3. It clamps values to [−3, 4].
const (
	sparseAt   = 1
	sparseGaps = 3
	sparseFar  = 6 // from here on, all factors are sums of exponentials: queries and gaps are within 4 of the threshold
	sparseLow  = -3
	sparseHigh = 4
)

func sparse() []Subject {
	one, half := epsilonOf(1, 1), epsilonOf(1, 2)
	return []Subject{
		sparseSubject("sparse-vector", "two queries against a threshold until one is above, with the gap", 2,
			stream.SparseVector{Sensitivity: big.NewInt(1), Epsilon: one, Gap: true, Positives: 1}),
		sparseSubject("sparse-vector-values",
			"two queries against a threshold until one is above, with its noisy value", 2,
			stream.SparseVector{Sensitivity: big.NewInt(1), Epsilon: half, Value: half, Positives: 1}),
	}
}

// sparseSubject returns the subject for a session with the given number of queries. The queries of neighbours
// differ by at most the sensitivity. If m is monotonic, they all differ in the same direction.
func sparseSubject(name, about string, queries int, m stream.SparseVector) Subject {
	most := m.Sensitivity.Int64()
	all, names := vectors(queries, 0, most)
	near := func(i, j int) bool { return !m.Monotonic || oneWay(all[i], all[j]) }
	pair := [2]int{place(all, most, 0), place(all, 0, most)}
	if queries == 1 {
		pair = [2]int{0, 1}
	} else if m.Monotonic {
		pair = [2]int{place(all, 0, 0), place(all, most, most)}
	}
	return subject(Subject{
		Name: name, About: about,
		Source: "Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Lyu, Su & Li 2017, Algorithm 7",
		domain: domain{inputs: names, pair: pair, draw: func(i int) (drawn, error) {
			return sparseDraw(m, all[i])
		}},
		law: func() (*Law, error) {
			v := sparseNoises(m)
			l, err := lawOf(names, adjacent(len(all), near), func(c *calc, i int) weights { return v.law(c, all[i]) })
			if err != nil || !m.Gap {
				return l, err
			}
			c := new(calc)
			l.Folded, l.Limits = true, v.limits(c, all)
			return l, c.err
		},
	})
}

// oneWay reports whether no two numbers change in opposite directions from a to b.
func oneWay(a, b []int64) bool {
	up, down := false, false
	for i := range a {
		up, down = up || a[i] < b[i], down || a[i] > b[i]
	}
	return !up || !down
}

// sparseDraw runs a session and returns its answers as text. For each query it says whether it is below or above,
// with the gap and the value if there are any.
func sparseDraw(m stream.SparseVector, queries []int64) (drawn, error) {
	session, err := m.Begin()
	if err != nil {
		return drawn{}, err
	}
	var text, folded []string
	for _, q := range exactly(queries...) {
		if session.Left() == 0 {
			break
		}
		a, err := session.Ask(q, big.NewInt(sparseAt))
		if err != nil {
			return drawn{}, err
		}
		told, near := "below", "below"
		if a.Above {
			told = "above"
			if a.Gap != nil {
				told += " by " + a.Gap.String()
			}
			near = told
		}
		if a.Value != nil {
			near = told + ", about " + label(min(max(a.Value.Int64(), sparseLow), sparseHigh))
			told += ", about " + a.Value.String()
		}
		text, folded = append(text, told), append(folded, near)
	}
	return drawn{text: strings.Join(text, "; "), folded: strings.Join(folded, "; "), loss: session.Loss()}, nil
}
