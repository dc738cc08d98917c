// Package ours contains dither's own mechanisms as subjects of audits. Each subject is a mechanism on a small
// example, with a worst pair of neighbours. [audit.Run] can audit it like any other program. If the exact output
// distribution (the law) can be written down, the subject also has it, so that package channel can check all
// neighbours of a small domain.
//
// Laws are written from the definitions in the literature, in exact numbers. They do not use the mechanisms'
// samplers, scales, thresholds or normalising constants. There are two exceptions: a σ² that a search finds, and
// the shares of ε in a recursion. The tests of this package compare draws with the laws. Together this shows more
// than an audit of runs, which can only refute. Every pair of the domain is within the declared loss, and the code
// follows the law as closely as the number of draws can show.
package ours

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dither/audit"
	"dither/privacy"
)

// Subject is one of dither's mechanisms, on an example.
type Subject struct {
	Name   string
	About  string // one line: the mechanism and the example
	Source string // the mechanism's source in the literature

	// Claim is the mechanism's declared loss in ε, or its (ε, δ). A zCDP loss is converted to (ε, δ) at a fixed δ.
	Claim audit.Claim
	// Sides describe the two neighbouring datasets on which [Subject.Run] runs. No other neighbours of the domain
	// are easier to distinguish.
	Sides [2]string

	domain domain
	// law returns the law over the domain. If law is nil, certify takes its place: it returns bounds on the
	// smallest δ at an ε, over all neighbours. near then returns the probabilities behind these bounds, rounded,
	// for comparison with draws.
	law     func() (*Law, error)
	certify func(privacy.Epsilon) (lower, upper float64, err error)
	near    func() (*Law, error)
	at      privacy.Delta // the δ at which a zCDP loss is converted
	err     error         // why the example could not be made; a defect, which Err returns
}

// domain is the list of a subject's inputs, with the mechanism that runs on an input given by its index. pair is
// the worst pair of neighbours.
type domain struct {
	inputs []string
	pair   [2]int
	draw   func(input int) (drawn, error)
	// makes many draws at once and returns their folded texts; nil if there is no faster way than the function draw
	many func(input, runs int) ([]string, error)
}

// drawn is one output of a mechanism. folded is the part of the text that the law distinguishes.
type drawn struct {
	text   string
	folded string
	loss   privacy.Loss
	claim  *audit.Claim // set if the mechanism declares (ε, δ) in addition to its loss
	shares int64        // the number of equal parts of ε that compose to the loss; 0 means 1
}

// Run returns the mechanism on the two sides as the subject of an audit. It calls the public method, with the
// system's randomness.
func (s Subject) Run() audit.Mechanism {
	return audit.Func(func(side audit.Side) string {
		out, err := s.domain.draw(s.domain.pair[side])
		if err != nil {
			return "error: " + err.Error()
		}
		return out.text
	})
}

// Draw runs the mechanism on an input of the law's domain, and returns the name that the law uses for the output.
func (s Subject) Draw(input int) (string, error) {
	out, err := s.domain.draw(input)
	return out.folded, err
}

// All returns every subject, ordered by kind.
func All() []Subject {
	return slices.Concat(additive(), gaussians(), responses(), selections(), sparse(), orders(), partitions())
}

// Find returns the subject with the given name.
func Find(name string) (Subject, bool) {
	all := All()
	i := slices.IndexFunc(all, func(s Subject) bool { return s.Name == name })
	if i < 0 {
		return Subject{}, false
	}
	return all[i], true
}

// subject completes s: it sets the claim from an output of the mechanism, and the names of the sides.
func subject(s Subject) Subject {
	out, err := s.domain.draw(s.domain.pair[0])
	s.err = err
	if err == nil {
		s.Claim, s.err = out.claims(s.at)
	}
	if s.law != nil {
		s.law = sync.OnceValues(s.law)
	}
	if s.near != nil {
		s.near = sync.OnceValues(s.near)
	}
	for side, input := range s.domain.pair {
		s.Sides[side] = s.domain.inputs[input]
	}
	return s
}

// claims returns the claim that an output declares. This is its (ε, δ) if it has one, else its pure loss, else its
// zCDP loss converted at δ = at. If it has both (ε, δ) and an approximate zCDP loss with the same δ, that loss must
// be (ε²/2, δ), or (ε²/(2k), δ) for k parts. If the two disagree, claims returns an error.
func (d drawn) claims(at privacy.Delta) (audit.Claim, error) {
	e, pure := d.loss.Pure()
	switch rho, delta := d.loss.ZCDP(); {
	case d.claim != nil && !pure && delta.Cmp(d.claim.Delta) == 0 &&
		rho.Cmp(d.claim.Epsilon.Rho().Share(1, max(d.shares, 1))) != 0,
		d.claim != nil && pure && (e.Cmp(d.claim.Epsilon) != 0 || !d.claim.Delta.IsZero()):
		return *d.claim, fmt.Errorf("the loss %s is not that of ε = %s", d.loss, d.claim.Epsilon)
	case d.claim != nil:
		return *d.claim, nil
	case pure:
		return audit.Claim{Epsilon: e}, nil
	}
	e, err := d.loss.EpsilonAt(at)
	return audit.Claim{Epsilon: e, Delta: at}, err
}

// Err returns an error if the example could not be made. The tests require nil.
func (s Subject) Err() error { return s.err }

// label joins numbers to the name under which a law lists an output.
func label[T int | int64](values ...T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatInt(int64(v), 10)
	}
	return strings.Join(texts, " ")
}

// plain returns an output whose full text the law distinguishes.
func plain[T int | int64](loss privacy.Loss, values ...T) drawn {
	text := label(values...)
	return drawn{text: text, folded: text, loss: loss}
}

// clamped returns a vector as an output whose folded text has each number clamped to [low, high]. Clamping is
// post-processing. It loses nothing if, beyond each end, the ratios of probabilities are the same as at that end.
func clamped(loss privacy.Loss, low, high int64, values ...int64) drawn {
	folded := make([]int64, len(values))
	for i, v := range values {
		folded[i] = min(max(v, low), high)
	}
	return drawn{text: label(values...), folded: label(folded...), loss: loss}
}

// vectors returns all lists of n numbers from low to high, and their names. The last number changes fastest.
func vectors(n int, low, high int64) (all [][]int64, names []string) {
	all = [][]int64{nil}
	for range n {
		var next [][]int64
		for _, v := range all {
			for x := low; x <= high; x++ {
				next = append(next, append(slices.Clone(v), x))
			}
		}
		all = next
	}
	for _, v := range all {
		names = append(names, fmt.Sprint(v))
	}
	return all, names
}

// adjacent returns the pairs of indices i, j below n for which near(i, j) is true.
func adjacent(n int, near func(i, j int) bool) (pairs [][2]int) {
	for i := range n {
		for j := range i {
			if near(i, j) {
				pairs = append(pairs, [2]int{j, i})
			}
		}
	}
	return pairs
}

// apart returns the distance of two vectors in the L₁ and in the L∞ norm.
func apart(a, b []int64) (l1, most int64) {
	for i := range a {
		d := max(a[i]-b[i], b[i]-a[i])
		l1, most = l1+d, max(most, d)
	}
	return l1, most
}
