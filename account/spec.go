package account

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"dither/internal/exact"
	"dither/internal/nearest"
)

// Step is a mechanism of a job with its parameters, and the number of times it runs. ParseStep makes steps from
// text, with exact parameters within its limits. NewJob refuses the zero Step.
type Step struct {
	kind       *kind
	parameters map[string]*big.Rat // the value of every key of kind
	sampling   *big.Rat            // the sampling rate q; nil if the mechanism reads all of the data
	scheme     Scheme              // sampling scheme; 0 without sampling
	count      int64
}

// SpecError describes an error in a spec and its position.
type SpecError struct {
	Position int // first character of the wrong word, from 1
	Message  string
}

func (e *SpecError) Error() string { return fmt.Sprintf("at character %d: %s", e.Position, e.Message) }

// Is reports whether target is ErrParameter.
func (e *SpecError) Is(target error) bool { return target == ErrParameter }

// longestSpec is the largest length of a spec, in bytes.
const longestSpec = 1000

// MostSteps is the largest count of one step, and of all steps of a job together.
const MostSteps = 1_000_000_000_000

// ParseStep parses a spec: the name of a mechanism and its parameters, each written key=value, in any order,
//
//	gaussian sigma=1.1 sampling=256/60000 count=14062
//
// with white space between them, and none around =. Values are decimal numbers or fractions of two decimal numbers,
// read exactly. These are the mechanisms and their keys. Keys in brackets are optional:
//
//	gaussian             sigma [sensitivity]    continuous noise and its post-processing; sensitivity in L₂ norm
//	discrete-gaussian    sigma [sensitivity]    discrete noise on integers; sensitivity in L₂ norm
//	laplace              scale [sensitivity]    continuous noise and its post-processing; sensitivity in L₁ norm
//	discrete-laplace     scale [sensitivity]    discrete noise on integers; sensitivity in L₁ norm
//	exponential          epsilon                a choice with probabilities ∝ e^(εu/2Δ)
//	randomized-response  k epsilon              one of k answers
//	pure                 epsilon                any mechanism with this ε
//	approx               epsilon delta          any mechanism with this ε and δ
//	zcdp                 rho                    any mechanism with this ρ
//	renyi                order epsilon          any mechanism with this loss at this Rényi order
//	gdp                  mu                     any mechanism with this μ of Gaussian differential privacy
//
// sensitivity is 1 by default. count is the number of times that the mechanism runs, by default 1. With sampling=q,
// it runs on a new sample of rate q each time. The sample is a Poisson sample under add/remove or, with
// scheme=fixed, a sample of a fixed size under change-one.
//
// Errors are *SpecError, which is an ErrParameter.
func ParseStep(text string) (Step, error) {
	s, _, err := parseStep(text, false)
	return s, err
}

// parseStep parses a spec. If mayOpen is set, one key in solvable may have the value "?". parseStep then returns
// the name of that key as open, and a step with the value 1.
func parseStep(text string, mayOpen bool) (s Step, open string, err error) {
	if len(text) > longestSpec {
		return Step{}, "", &SpecError{1, fmt.Sprintf("a spec can have at most %d characters", longestSpec)}
	}
	words := wordsOf(text)
	if len(words) == 0 {
		return Step{}, "", &SpecError{1, "begin with a mechanism: " + allowedNames()}
	}
	k := kindNamed(words[0].text)
	if k == nil {
		return Step{}, "", words[0].wrong("there is no mechanism %q%s; the mechanisms are %s",
			words[0].text, guess(words[0].text, Mechanisms()), allowedNames())
	}
	s = Step{kind: k, parameters: map[string]*big.Rat{}, count: 1}
	seen := map[string]bool{}
	schemeAt := word{}
	for i, w := range words[1:] {
		name, value, ok := strings.Cut(w.text, "=")
		at := word{w.position + utf8.RuneCountInString(name) + 1, value}
		switch {
		case name == "" && ok, i+2 < len(words) &&
			(!ok && strings.HasPrefix(words[i+2].text, "=") || ok && value == "" &&
				!strings.Contains(words[i+2].text, "=")):
			return Step{}, "", w.wrong("write no spaces around =, for example %s=1", k.keys[0].name)
		case !ok:
			return Step{}, "", w.wrong("%q is not key=value; %s takes %s", w.text, k.name, k.allowed())
		case seen[name]:
			return Step{}, "", w.wrong("%s is given twice", name)
		case value == "":
			return Step{}, "", w.wrong("%s has no value", name)
		}
		seen[name] = true
		if name == "scheme" {
			schemeAt = w
			switch value {
			case "poisson":
				s.scheme = Poisson
			case "fixed":
				s.scheme = FixedSize
			default:
				return Step{}, "", at.wrong("scheme must be poisson or fixed, not %q", value)
			}
			continue
		}
		key := k.key(name)
		if key == nil {
			return Step{}, "", w.wrong("%s has no key %q%s; it takes %s",
				k.name, name, guess(name, k.names()), k.allowed())
		}
		if value == "?" && mayOpen {
			if !slices.Contains(solvable, name) || open != "" {
				return Step{}, "", at.wrong("only one of %s can be open, not %s", strings.Join(solvable, ", "), name)
			}
			open, value = name, "1"
		}
		r, err := ParseNumber(value)
		if err == nil {
			err = key.check(r)
		}
		if err != nil {
			return Step{}, "", at.wrong("%s %v", name, err)
		}
		switch name {
		case "count":
			s.count = r.Num().Int64()
		case "sampling":
			s.sampling = r
		default:
			s.parameters[name] = r
		}
	}
	for _, key := range k.keys {
		if s.parameters[key.name] != nil {
			continue
		}
		if key.usual == nil {
			return Step{}, "", words[0].wrong("%s needs %s", k.name, key.name)
		}
		s.parameters[key.name] = key.usual
	}
	switch {
	case s.scheme != 0 && s.sampling == nil:
		return Step{}, "", schemeAt.wrong("scheme needs sampling=q")
	case s.sampling != nil && s.scheme == 0:
		s.scheme = Poisson
	}
	return s, open, nil
}

// word is a word of a spec with its position.
type word struct {
	position int
	text     string
}

func (w word) wrong(format string, args ...any) error {
	return &SpecError{w.position, fmt.Sprintf(format, args...)}
}

// wordsOf splits a spec at white space.
func wordsOf(text string) []word {
	var out []word
	for _, f := range strings.FieldsFunc(text, isSpace) {
		out = append(out, word{text: f})
	}
	from := 0
	for i, w := range out {
		at := from + strings.Index(text[from:], w.text)
		out[i].position = utf8.RuneCountInString(text[:at]) + 1
		from = at + len(w.text)
	}
	return out
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// guess returns a suggestion for a message: the known name that is nearest to name, or "".
func guess(name string, known []string) string {
	if n := nearest.Name(name, known); n != "" {
		return fmt.Sprintf(" (did you mean %s?)", n)
	}
	return ""
}

// errNumber reports a text that is not a number.
var errNumber = errors.New("must be a decimal number or a fraction, such as 0.1, 1e-6 or 256/60000")

// ParseNumber parses a number of a spec exactly: a decimal number, or a fraction of two. Its errors say what is
// allowed.
func ParseNumber(text string) (*big.Rat, error) {
	over, under, fraction := strings.Cut(text, "/")
	r, err := exact.ParseDecimal(over)
	if err == nil && fraction {
		var by *big.Rat
		if by, err = exact.ParseDecimal(under); err == nil {
			if by.Sign() == 0 {
				return nil, errNumber
			}
			r.Quo(r, by)
		}
	}
	if errors.Is(err, exact.ErrRange) {
		return nil, errors.New("is too long or too large: write at most 64 characters, with an exponent within ±64")
	}
	if err != nil {
		return nil, errNumber
	}
	return r, nil
}

// String returns the spec in its canonical form. ParseStep parses it to the same step.
func (s Step) String() string {
	if s.kind == nil {
		return ""
	}
	parts := []string{s.kind.name}
	for _, key := range s.kind.keys {
		if r := s.parameters[key.name]; key.usual == nil || r.Cmp(key.usual) != 0 {
			parts = append(parts, key.name+"="+written(r))
		}
	}
	if s.sampling != nil {
		parts = append(parts, "sampling="+written(s.sampling))
		if s.scheme == FixedSize {
			parts = append(parts, "scheme=fixed")
		}
	}
	if s.count != 1 {
		parts = append(parts, fmt.Sprintf("count=%d", s.count))
	}
	return strings.Join(parts, " ")
}

// written returns a number in a form that ParseNumber accepts: a decimal number if that is short, otherwise a
// fraction.
func written(r *big.Rat) string {
	if places, finite := r.FloatPrec(); finite && places <= 60 {
		if text := r.FloatString(places); len(text) <= 64 {
			return text
		}
	}
	return r.RatString()
}

func allowedNames() string { return strings.Join(Mechanisms(), ", ") }

// Mechanisms lists the names of mechanisms, in the order of ParseStep's table.
func Mechanisms() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Keys lists the required and the optional keys of a mechanism. The optional ones of every mechanism include
// sampling, scheme and count. For an unknown name both lists are empty.
func Keys(mechanism string) (needed, optional []string) {
	k := kindNamed(mechanism)
	if k == nil {
		return nil, nil
	}
	for _, key := range k.keys {
		if key.usual == nil {
			needed = append(needed, key.name)
		} else {
			optional = append(optional, key.name)
		}
	}
	return needed, append(optional, "sampling", "scheme", "count")
}

func kindNamed(name string) *kind {
	if i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == name }); i >= 0 {
		return kinds[i]
	}
	return nil
}
