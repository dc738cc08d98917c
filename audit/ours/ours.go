// Package ours holds dither's own mechanisms as subjects of audits. Each has a small example with a worst pair of
// neighbours, and runs like any other program (audit.Run). If its law can be written down, it also has that law, for an
// exact check over all neighbours of a small domain (package channel).
//
// Laws are written down from the definitions in the literature, in exact numbers. They share no code with the
// mechanisms: neither samplers, nor scales, thresholds and normalising constants (except one σ² that is found by a
// search). The tests of this package check by sampling that the code has these laws. Together this is more than an
// audit of runs, which can only refute: the law is within the declared loss for every pair of the domain, and the code
// follows the law as far as that many draws can show.
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
	About  string // one line: what it is, and on what example
	Source string // the mechanism's source in the literature

	// Claim is what the mechanism declares: its Loss, or its (ε, δ). A loss in zCDP is converted at a δ.
	Claim audit.Claim
	// Sides are the two datasets of Run, in words. No neighbours of the domain are easier to distinguish.
	Sides [2]string

	domain domain
	// law is the law over the domain; nil if certify stands in its place: bounds of the least δ at an ε over all
	// neighbours. near are then the probabilities that those are bounds of, rounded, to compare draws with.
	law     func() (*Law, error)
	certify func(privacy.Epsilon) (lower, upper float64, err error)
	near    func() (*Law, error)
	at      privacy.Delta // at which a loss of zCDP is read
	err     error         // of making the example: a defect, reported by Run
}

// domain is the inputs of a subject, by index, and the mechanism on them.
type domain struct {
	inputs []string
	pair   [2]int
	draw   func(input int) (drawn, error)
	many   func(input, runs int) ([]string, error) // many draws at once, folded; nil if they are made one by one
}

// drawn is one output: its full text, and the part that the law distinguishes, if that is less.
type drawn struct {
	text   string
	folded string
	loss   privacy.Loss
	claim  *audit.Claim // set if the mechanism declares (ε, δ) beside its loss
	shares int64        // of how many parts of ε the loss is a sum; 0 is 1
}

// Run is the real mechanism on the two sides: its public method, with the system's entropy.
func (s Subject) Run() audit.Mechanism {
	return audit.Func(func(side audit.Side) string {
		out, err := s.domain.draw(s.domain.pair[side])
		if err != nil {
			return "error: " + err.Error()
		}
		return out.text
	})
}

// Draw runs the mechanism on an input of the law's domain, and returns the output under the law's name.
func (s Subject) Draw(input int) (string, error) {
	out, err := s.domain.draw(input)
	return out.folded, err
}

// All is every subject, ordered by kind.
func All() []Subject {
	return slices.Concat(additive(), gaussians(), responses(), selections(), sparse(), orders(), partitions())
}

// Find returns the subject with a name.
func Find(name string) (Subject, bool) {
	all := All()
	i := slices.IndexFunc(all, func(s Subject) bool { return s.Name == name })
	if i < 0 {
		return Subject{}, false
	}
	return all[i], true
}

// subject completes s: its claim is what its outputs come with; and its sides are named.
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

// claims is what an output declares: (ε, δ) if it has one, a pure loss, or a zCDP loss, read at a δ. If it has (ε,
// δ) and a loss of approximate zCDP with the same δ, that loss is (ε²/2, δ), or (ε²/(2k), δ) with k parts.
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

// Err is the fault of the example: nil, or the tests fail.
func (s Subject) Err() error { return s.err }

// label joins numbers as a law names its outputs.
func label[T int | int64](values ...T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatInt(int64(v), 10)
	}
	return strings.Join(texts, " ")
}

// plain is an output that the law distinguishes completely.
func plain[T int | int64](loss privacy.Loss, values ...T) drawn {
	text := label(values...)
	return drawn{text: text, folded: text, loss: loss}
}

// clamped is a vector of which the law knows each number between low and high alone. That is post-processing, and for
// noise whose ratios beyond the ends are the same as at them it loses nothing.
func clamped(loss privacy.Loss, low, high int64, values ...int64) drawn {
	folded := make([]int64, len(values))
	for i, v := range values {
		folded[i] = min(max(v, low), high)
	}
	return drawn{text: label(values...), folded: label(folded...), loss: loss}
}

// vectors are all lists of n of the numbers from low to high, the last running fastest, and their names.
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

// adjacent are the pairs of inputs for which near returns true.
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

// apart is the distance of two vectors, in L1 and in L∞ norm.
func apart(a, b []int64) (l1, most int64) {
	for i := range a {
		d := max(a[i]-b[i], b[i]-a[i])
		l1, most = l1+d, max(most, d)
	}
	return l1, most
}
