// Package formula parses model formulas such as y ~ x1 + g + x1:g and turns them into a [Design]. A design has an
// SQL expression for each predictor, with values between −1 and 1. It also converts coefficients of the scaled
// predictors to coefficients of the unscaled columns.
//
// The formula and the policy determine the design. The package reads no row and spends no budget.
package formula

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Formula is a model in statistical notation: y ~ x1 + x2 + g + x1:x2. Terms are the terms of the right-hand side,
// ordered by their number of factors, without the intercept. A model has an intercept unless its formula contains 0
// + or - 1.
type Formula struct {
	Response  string
	Terms     []Term
	Intercept bool
}

// Term is a product of columns. A main effect has one column; an interaction has several.
type Term []Factor

// Factor is one column in a term.
type Factor struct {
	Column      string
	Categorical bool // written as factor(x): the declared values of x are categories, even if they are numbers
}

// String returns the formula in canonical form.
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

// Quote writes a column's name as a formula needs it, with quotes if necessary.
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

// same reports whether two terms are the same product, in any order.
func (t Term) same(other Term) bool {
	return len(t) == len(other) && !slices.ContainsFunc(t, func(f Factor) bool { return !slices.Contains(other, f) })
}

// times returns the product of two terms. A factor that is in both appears once.
func (t Term) times(other Term) Term {
	out := slices.Clone(t)
	for _, f := range other {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
