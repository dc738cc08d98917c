// Package formula reads model formulas such as y ~ x1 + g + x1:g, and turns them into a Design: for each predictor an
// SQL expression of a row that lies between −1 and 1, and the map from coefficients of the scaled predictors to those
// of the columns as they are.
//
// A design follows from the formula and the policy alone. Nothing here reads a row or spends budget.
package formula

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Formula is a model as statisticians write it: y ~ x1 + x2 + g + x1:x2. Terms are those of the right-hand side,
// ordered by their number of factors. They leave out the intercept, which every model has unless its formula contains 0
// + or - 1.
type Formula struct {
	Response  string
	Terms     []Term
	Intercept bool
}

// Term is a product of columns: one for a main effect, several for an interaction.
type Term []Factor

// Factor is a column in a term.
type Factor struct {
	Column      string
	Categorical bool // factor(x): by its declared values, though they are numbers
}

// String is the formula in canonical form.
func (f Formula) String() string {
	var terms []string
	if !f.Intercept {
		terms = append(terms, "0")
	}
	for _, t := range f.Terms {
		terms = append(terms, t.String())
	}
	if len(terms) == 0 {
		terms = append(terms, "1")
	}
	return Quote(f.Response) + " ~ " + strings.Join(terms, " + ")
}

func (t Term) String() string {
	parts := make([]string, len(t))
	for i, f := range t {
		parts[i] = Quote(f.Column)
		if f.Categorical {
			parts[i] = "factor(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, ":")
}

// Quote writes a name as a formula does.
func Quote(name string) string {
	first, _ := utf8.DecodeRuneInString(name)
	plain := name != "" && !unicode.IsDigit(first)
	for _, r := range name {
		plain = plain && nameRune(r)
	}
	if plain && name != "factor" {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func nameRune(r rune) bool { return r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// same reports the same product, in whatever order.
func (t Term) same(other Term) bool {
	return len(t) == len(other) && !slices.ContainsFunc(t, func(f Factor) bool { return !slices.Contains(other, f) })
}

// times is the product of two terms; a factor times itself is itself.
func (t Term) times(other Term) Term {
	out := slices.Clone(t)
	for _, f := range other {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
