package formula

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/nearest"
	"dither/stats/internal/request"
)

// Classes selects the values of a categorical response that a model distinguishes. The zero Classes uses the values
// in the policy.
type Classes struct {
	// Levels are the values in the order of their classes, starting with class 0. With two levels, the model
	// predicts the probability of the second. Rows with a value outside Levels do not count. nil means all values
	// that the policy declares, in the policy's order. For a boolean, nil means false, then true.
	Levels []string
	// Positive is the value whose probability the model predicts, against all other values.
	Positive string
}

// Given reports whether the caller selected classes, rather than leaving them to the policy.
func (k Classes) Given() bool { return len(k.Levels) > 0 || k.Positive != "" }

// some reports whether a row may have a value outside Levels. Such rows do not count, so the declared number of
// rows does not say how many rows count.
func (k Classes) some(c curator.TableColumn) bool {
	if len(k.Levels) == 0 {
		return false
	}
	_, all, err := levels(c)
	return err != nil || slices.ContainsFunc(all, func(word string) bool { return !slices.Contains(k.Levels, word) })
}

// classified returns the response for a categorical column. Its SQL is the number of the row's class, or NULL if
// the row's value is in no class.
func (d *designer) classified(c curator.TableColumn) (r Response, err error) {
	k := d.options.Classes
	r = Response{Name: c.Name, Column: c.Name, Low: new(big.Rat), High: big.NewRat(1, 1)}
	name := curator.SQLName(c.Name)
	words := k.Levels
	if len(words) == 0 {
		if _, words, err = levels(c); err != nil && k.Positive == "" {
			return r, err
		}
	}
	if len(words) > maxPredictors {
		return r, request.Misuse("", "a response can have at most %d classes", maxPredictors)
	}
	literals := make([]string, len(words))
	for i, w := range words {
		if literals[i], err = literal(c, w); err != nil {
			return r, err
		}
		if slices.Contains(words[:i], w) {
			return r, request.Misuse("", "the level %q of %s is named twice", w, c.Name)
		}
	}
	if k.Positive != "" {
		return d.against(c, k, words, literals)
	}
	if len(words) < 2 {
		return r, request.Misuse("", "a response needs at least two classes, but %s has only one", c.Name)
	}
	r.Partial = k.some(c)
	if r.Levels = words; len(words) == 2 {
		r.Name = levelName(c.Name, words[1])
	}
	r.High = big.NewRat(int64(len(words)-1), 1)
	var b strings.Builder
	for i, l := range literals {
		fmt.Fprintf(&b, " WHEN %s = %s THEN %d", name, l, i)
	}
	r.SQL = "CASE" + b.String() + " END"
	return r, nil
}

// against returns a response that is 1 for the value k.Positive and 0 for every other value. If words is not empty,
// rows with a value that is not in the list `words` are NULL.
func (d *designer) against(c curator.TableColumn, k Classes, words, literals []string) (r Response, err error) {
	if len(words) > 0 && !slices.Contains(words, k.Positive) {
		hint := ""
		if near := nearest.Name(k.Positive, words); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return r, request.Misuse(hint, "%q is not a declared value of %s", k.Positive, c.Name)
	}
	level, err := literal(c, k.Positive)
	if err != nil {
		return r, err
	}
	r = Response{
		Name: levelName(c.Name, k.Positive), Column: c.Name, SQL: indicator(curator.SQLName(c.Name), level),
		Low: new(big.Rat), High: big.NewRat(1, 1),
		Levels: []string{"other than " + k.Positive, k.Positive}, Partial: k.some(c),
	}
	if len(k.Levels) > 0 {
		r.SQL = fmt.Sprintf("CASE WHEN %s IN (%s) THEN %s END",
			curator.SQLName(c.Name), strings.Join(literals, ", "), r.SQL)
	}
	return r, nil
}

// literal writes a value of a column in SQL.
func literal(c curator.TableColumn, word string) (string, error) {
	switch c.Type {
	case "text":
		return curator.SQLText(word), nil
	case "date":
		if strings.Trim(word, "0123456789-") == "" {
			return "DATE '" + word + "'", nil
		}
	case "boolean":
		if l := strings.ToLower(word); l == "true" || l == "false" {
			return l, nil
		}
	case "integer", "real":
		if r, err := exact.ParseDecimal(word); err == nil {
			return exact.FormatRat(r), nil
		}
	}
	return "", request.Misuse("", "%q is not a value of %s, which has type %s", word, c.Name, c.Type)
}
