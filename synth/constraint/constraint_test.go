package constraint

import (
	"strconv"
	"testing"

	"dither/internal/splitmix"
)

// people has the columns a, b (numbers), day (a date), job (a text) and married.
func people(name string) (Column, bool) {
	number := Column{Number: func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, Unit: 1}
	c, ok := map[string]Column{
		"a": number, "b": number, "an age": number, "job": {Kind: Text}, "married": {Kind: Boolean},
		"at": {Number: number.Number},
	}[name]
	return c, ok
}

func rule(t *testing.T, text string) *Rule {
	t.Helper()
	r, err := Parse(text)
	if err == nil {
		err = r.Bind(people)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The truth of conditions on single values is that of SQL.
func TestTruth(t *testing.T) {
	values := map[string]Value{
		"a": At(3), "b": {Null: true}, "an age": At(17), "job": {Text: "it's"}, "married": {True: true}, "at": At(5),
	}
	for text, want := range map[string]Truth{
		"a < 3": False, "a <= 3": True, "a > 2.5": True, "a >= 4": False, "a = 3": True, "a <> 3": False, "a != -3": True,
		"3 < a": False, "3 >= a": True, "b = 1": Unknown, "b = 1 or a = 3": True, "b = 1 and a = 3": Unknown,
		"b = 1 AND a = 4": False, "NOT b = 1": Unknown, "b IS NULL": True, "a is not null": True,
		"b is null => a = 4": False, "b = 1 => a = 4": Unknown, "a = 4 => b = 1": True,
		"\"an age\" < 18 ⇒ ¬ married": False, "\"an age\" < 18 => not (married and a > 3)": True,
		"a BETWEEN 1 AND 3 and married": True, "a not between 3 and 9": False, "a in (1, 2, 3)": True, "a NOT IN (1, 3)": False,
		"job = 'it''s'": True, "job <> 'nurse'": True, "job in ('nurse')": False, "married = false": False,
		"a + 2 <= at": False, "at >= 5": True, "a + 2 - 1 = 4": True, "not married": False, "a < \"an age\" - 13.5": True,
	} {
		if text == "a + 2 <= at" { // columns of two kinds
			r, err := Parse(text)
			if err != nil || r.Bind(people) == nil {
				t.Error(text, err)
			}
			continue
		}
		r := rule(t, text)
		var of []Value
		for _, c := range r.Columns() {
			of = append(of, values[c])
		}
		if got := r.Truth(of); got != want {
			t.Errorf("%s is %v instead of %v", text, got, want)
		}
	}
}

// On ranges, the truth has each truth value that values in the ranges have.
func TestRangesContainTheirValues(t *testing.T) {
	words := splitmix.At(3)
	number := func() string { return strconv.Itoa(words.Below(7)) }
	for range 2000 {
		text := "a" + []string{"<", "<=", "=", "<>", ">", ">="}[words.Below(6)] + []string{number(), "b", "b + 1"}[words.Below(3)]
		text += []string{" and ", " or ", " => "}[words.Below(3)] + []string{"not ", ""}[words.Below(2)] + "b in (" + number() + "," + number() + ")"
		r := rule(t, text)
		var ranges []Value
		for range r.Columns() {
			low := words.Below(7)
			ranges = append(ranges, Value{Low: float64(low), High: float64(low + words.Below(4)), Null: words.Below(10) == 0})
		}
		all := r.Truth(ranges)
		for range 20 {
			var point []Value
			for _, v := range ranges {
				x := At(v.Low + float64(words.Below(int(v.High-v.Low)+1)))
				x.Null = v.Null
				point = append(point, x)
			}
			one := r.Truth(point)
			if one&all != one || one == 0 {
				t.Fatalf("%s is %v on %v, and %v on %v", text, all, ranges, one, point)
			}
		}
	}
}

// A bin that a cut begins or ends lies on one side of its comparison.
func TestCuts(t *testing.T) {
	for text, want := range map[string]Cut{
		"a < 18": {18, true, false}, "a >= 18": {18, true, false}, "18 > a": {18, true, false},
		"a <= 18": {18, false, true}, "a > 18": {18, false, true}, "18 < a": {18, false, true}, "a + 1 = 18": {17, true, true},
	} {
		if got := rule(t, text).Cuts("a"); len(got) != 1 || got[0] != want {
			t.Errorf("%s has the cuts %v instead of %v", text, got, want)
		}
	}
	if got := rule(t, "a <= b").Cuts("a"); got != nil {
		t.Error(got)
	}
}

// Texts that are no constraints, and constraints that fit no column, are errors.
func TestBadConstraints(t *testing.T) {
	for _, text := range []string{
		"", "a", "a <", "a < 'x'", "a < < 3", "c = 1", "job < 'nurse'", "job = 3", "married = 1", "married and", "(a < 3", "a < 3)",
		"a between 1", "a in 1", "a in ()", "a is 3", "a not 3", "3", "3 < 4", "'x' = 'y'", "a = 'open", "a + b < 3", "married + 1 = 2",
		"a + 1 is null", "at + 1 = 3", "a < -b", "a => b", "not", "and", "a < 1 => a < 2 => a < 3", "\xff", "a < 1e999", "a ; b",
	} {
		r, err := Parse(text)
		if err == nil {
			err = r.Bind(people)
		}
		if err == nil {
			t.Errorf("%q is a constraint", text)
		}
	}
}

// No text makes the parser panic, and what it reads can be evaluated.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"\"an age\" < 18 => not married", "a + 1 between b and 3 or job in ('x', 'y')", "a ⇒ (b is null)", "a<.5e-3", "((((", "date '2020-01-01' <= a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil || r.Bind(people) != nil {
			return
		}
		if got := r.Truth(make([]Value, len(r.Columns()))); got == 0 || got > 7 {
			t.Errorf("%q is %v", text, got)
		}
		for _, c := range r.Columns() {
			r.Cuts(c)
		}
	})
}
