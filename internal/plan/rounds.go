package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/internal/policy"
	"dither/internal/sensitivity"
	"dither/mechanism/linear"
	"dither/privacy"
)

// MaxRounds is the largest number of steps of a [Rounds].
const MaxRounds = 10_000

// Rounds is the plan of a sequence of steps that share one price. Each step selects or measures marginals of one bounded
// statement. The price, the candidates and the largest number of steps are fixed. The steps are decided as they go.
type Rounds struct {
	// Linear has one part for each candidate: a marginal, and the identity on its cells. The noise and the shares of its
	// parts are not used, because each step has its own.
	*Linear
	Steps int
}

// BuildRounds plans rounds over marginals of a question: SELECT COUNT(*) FROM t WHERE … GROUP BY keys with known values.
// Each candidate lists keys, as LinearPart.Keys does. Errors are as in Build.
func BuildRounds(p *policy.Policy, r Request, candidates [][]int, steps int) (*Rounds, error) {
	if steps < 1 || steps > MaxRounds {
		return nil, &Error{Message: fmt.Sprintf("there are between 1 and %d steps, not %d", MaxRounds, steps)}
	}
	if len(candidates) < 1 || len(candidates) > MaxLinearParts {
		return nil, &Error{
			Message: fmt.Sprintf("there are between 1 and %d candidates, not %d", MaxLinearParts, len(candidates)),
		}
	}
	of, _, err := histogram(p, r)
	if err != nil {
		return nil, err
	}
	values := of.KeyValues()
	parts := make([]LinearPart, len(candidates))
	identities, numbers := map[int]linear.Matrix{}, 0
	identity := func(n int) linear.Matrix {
		if _, known := identities[n]; !known {
			identities[n] = linear.Identity(n)
		}
		return identities[n]
	}
	for i, keys := range candidates {
		// the last matrix is the identity on one cell, for a candidate without keys
		product, cells := linear.Product{}, 1
		for _, k := range keys {
			if k < 0 || k >= len(values) {
				return nil, &Error{
					Message: fmt.Sprintf("candidate %d has key %d, and the question has %s", i+1, k, plural(int64(len(values)), "key")),
					Hint:    "the expressions of GROUP BY are numbered from 0",
				}
			}
			if cells = min(cells*len(values[k]), MaxPartCells+1); cells > MaxPartCells {
				return nil, &Error{
					Message: fmt.Sprintf("candidate %d has more than %d cells", i+1, MaxPartCells),
					Hint:    "give it fewer keys",
				}
			}
			product = append(product, identity(len(values[k])))
		}
		if numbers += cells; numbers > freeNumbers {
			return nil, &Error{
				Message: fmt.Sprintf("the candidates have more than %d cells together", freeNumbers),
				Hint:    "leave candidates out, or give them fewer keys",
			}
		}
		s, err := linear.NewStrategy(append(product, identity(1)))
		if err != nil {
			return nil, &Error{Message: fmt.Sprintf("candidate %d: %v", i+1, err), Hint: "give it fewer keys"}
		}
		parts[i] = LinearPart{Keys: slices.Clone(keys), Strategy: s}
	}
	out, err := BuildLinear(p, r, parts)
	if err != nil {
		return nil, err
	}
	return &Rounds{out, steps}, nil
}

// Canonical returns a text that determines the statement, the candidates, the price and the number of steps.
func (p *Rounds) Canonical(versions ...int) string {
	return fmt.Sprintf("rounds %d\n%s", p.Steps, p.Linear.Canonical(versions...))
}

// Key returns the replay key, which is the digest of Canonical.
func (p *Rounds) Key(versions ...int) string {
	sum := sha256.Sum256([]byte(p.Canonical(versions...)))
	return hex.EncodeToString(sum[:])
}

// RoundOption is a candidate of a selection, with its score.
type RoundOption struct {
	Candidate int
	Score     linear.Distance
}

// RoundSelection is a step that selects one of its options, by the scores.
type RoundSelection struct {
	Options     []RoundOption
	Sensitivity *big.Int // the most that one unit moves any of the scores (sensitivity.OfDistance)
	Price       privacy.Loss
}

// RoundMeasurement is a step that measures marginals.
type RoundMeasurement struct {
	Parts []RoundPart
	Price privacy.Loss
}

// RoundPart is a measured candidate. Answers has its share of the step's price, its sensitivity and its noise.
type RoundPart struct {
	Candidate int
	Answers   Measure
}

// Selection plans a step that selects one of the options. The price is the step's share of the whole price.
func (p *Rounds) Selection(options []RoundOption, price privacy.Loss) (*RoundSelection, error) {
	if err := p.step(price, len(options)); err != nil {
		return nil, err
	}
	out := &RoundSelection{Price: price}
	var distances []linear.Distance
	var moves []*big.Int
	seen := map[int]bool{}
	for i, o := range options {
		if err := p.candidate(o.Candidate, seen); err != nil {
			return nil, err
		}
		part := p.Parts[o.Candidate]
		if err := o.Score.Check(part.Strategy.Rows()); err != nil {
			return nil, &Error{Message: fmt.Sprintf("option %d: %v", i+1, err)}
		}
		o.Score.Table = slices.Clone(o.Score.Table)
		out.Options = append(out.Options, o)
		distances, moves = append(distances, o.Score), append(moves, part.Answers.L1)
	}
	out.Sensitivity = sensitivity.OfDistance(distances, moves)
	return out, nil
}

// Measurement plans a step that measures candidates, with the price divided equally among them.
func (p *Rounds) Measurement(candidates []int, price privacy.Loss) (*RoundMeasurement, error) {
	if err := p.step(price, len(candidates)); err != nil {
		return nil, err
	}
	out := &RoundMeasurement{Price: price}
	seen := map[int]bool{}
	for _, c := range candidates {
		if err := p.candidate(c, seen); err != nil {
			return nil, err
		}
		m := p.Parts[c].Answers
		m.Loss = price.Share(1, int64(len(candidates)))
		if err := m.choose(); err != nil {
			return nil, &Error{Message: fmt.Sprintf("no noise can be chosen: %v", err), Hint: "give the step a larger price"}
		}
		if _, err := m.Noise.Distribution(m.Parameter); err != nil {
			return nil, &Error{
				Message: fmt.Sprintf("the step needs more noise than is supported: %v", err),
				Hint:    "give the step a larger price, or fewer marginals",
			}
		}
		out.Parts = append(out.Parts, RoundPart{c, m})
	}
	return out, nil
}

// step refuses a step whose price is zero, or is not in the terms of the whole price, and a step without candidates.
func (p *Rounds) step(price privacy.Loss, candidates int) error {
	switch {
	case candidates == 0:
		return &Error{Message: "a step needs at least one candidate"}
	case price.Accountant() != p.Price.Accountant():
		return &Error{
			Message: fmt.Sprintf("the price of a step is %s, and that of all steps is %s", price, p.Price),
			Hint:    "give both in ε, or both in ρ",
		}
	case price.IsZero() || !price.Within(p.Price):
		return &Error{
			Message: fmt.Sprintf("the price of a step must be above 0 and at most %s", p.Price),
			Hint:    "give the step a share of the price of all steps",
		}
	}
	return nil
}

// Least returns the noise of a measurement of one candidate at the whole price: the largest sensitivity of a candidate,
// and the parameter of its noise. No step adds less noise to that candidate.
func (p *Rounds) Least() (Measure, error) {
	most := p.Parts[0].Answers
	for _, part := range p.Parts {
		if part.Answers.L1.Cmp(most.L1) > 0 {
			most = part.Answers
		}
	}
	most.Loss = p.Price
	err := most.choose()
	return most, err
}

// candidate refuses a candidate that does not exist, or that is listed twice.
func (p *Rounds) candidate(c int, seen map[int]bool) error {
	if c < 0 || c >= len(p.Parts) || seen[c] {
		return &Error{
			Message: fmt.Sprintf("candidate %d does not exist, or is listed twice", c),
			Hint:    fmt.Sprintf("candidates are numbered from 0 to %d", len(p.Parts)-1),
		}
	}
	seen[c] = true
	return nil
}

// Canonical returns a text that determines the step.
func (s *RoundSelection) Canonical() string {
	var b strings.Builder
	fmt.Fprintf(&b, "select %s sensitivity=%s\n", s.Price, s.Sensitivity)
	var line []byte
	for _, o := range s.Options {
		fmt.Fprintf(&b, "%d weight=%d scale=%d penalty=%d table=", o.Candidate, o.Score.Weight, o.Score.Scale, o.Score.Penalty)
		line = line[:0]
		for _, t := range o.Score.Table {
			line = append(strconv.AppendInt(line, t, 10), ' ')
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// Canonical returns a text that determines the step.
func (s *RoundMeasurement) Canonical() string {
	var b strings.Builder
	fmt.Fprintf(&b, "measure %s\n", s.Price)
	for _, part := range s.Parts {
		m := &part.Answers
		fmt.Fprintf(&b, "%d %s %s %s\n", part.Candidate, m.Noise, m.Parameter.RatString(), m.Loss)
	}
	return b.String()
}
