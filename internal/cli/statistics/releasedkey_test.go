package statistics

import (
	"math/big"
	"strings"
	"testing"

	"dither/curator"
)

// The expression by which a release is grouped has the name of its column, and the ends of its parts.
func TestReleasedKeys(t *testing.T) {
	const integers = `(least (case (ge "age" integer:"100") integer:"6" (add (add (least (greatest (floor (div (to_real (mul ` +
		`(sub "age" integer:"0") integer:"5")) (to_real (sub integer:"100" integer:"0")))) integer:"0") integer:"4") integer:"1") ` +
		`(mul integer:"0" (floor (div (to_real (mul (sub "age" integer:"0") integer:"5")) (to_real (sub integer:"100" ` +
		`integer:"0"))))))) integer:"5")`
	const reals = `(least (case (ge "a \"cost\"" real:"50.25") integer:"3" (add (add (least (greatest (floor (div (mul (sub ` +
		`"a \"cost\"" real:"-0.5") real:"2") (sub real:"50.25" real:"-0.5"))) integer:"0") integer:"1") integer:"1") (mul ` +
		`integer:"0" (floor (div (mul (sub "a \"cost\"" real:"-0.5") real:"2") (sub real:"50.25" real:"-0.5")))))) integer:"2")`
	for notation, want := range map[string][2]string{ // the name, and the second part
		`"arm"`: {"arm", "2"}, integers: {"age", "20–39"}, reals: {`a "cost"`, "24.875–50.25"},
		strings.ReplaceAll(integers, `(ge "age"`, `(ge "old"`):             {`(least (case (ge "old" integer:"100") in…`, "2"},
		strings.TrimSuffix(integers, `integer:"5")`) + `integer:"4")`:      {`(least (case (ge "age" integer:"100") in…`, "2"},
		`(sub "age" integer:"3")`:                                          {`(sub "age" integer:"3")`, "2"},
		strings.ReplaceAll(integers, `(ge "age" integer:"100")`, "(ge 1)"): {`(least (case (ge 1) integer:"6" (add (ad…`, "2"},
	} {
		name, key := releasedKey(notation)
		if got := [2]string{name, key.name("2")}; got != want {
			t.Errorf("%s: %q, not %q", notation, got, want)
		}
	}
}

// Texts are ranked in alphabetical order, and the note says so. Dates and numbers have an order of their own.
func TestAlphabeticalOrder(t *testing.T) {
	of := func(values ...any) *released {
		r := &released{Measurements: &curator.Measurements{Keys: []string{`"g"`}, Grouped: []int{0}}}
		for _, v := range values {
			r.Cells = append(r.Cells, []any{v})
		}
		return r
	}
	if got := of("control", "new", "old", nil).alphabetical(0); len(got) != 1 ||
		!strings.HasPrefix(got[0], "the values of g are texts, ranked in alphabetical order: control < new < old. ") {
		t.Errorf("%q", got)
	}
	if got := of("a", "b", "c", "d", "e", "f", "g", "h", "i").alphabetical(0); len(got) != 1 || !strings.Contains(got[0], "g < h < … (9 values)") {
		t.Errorf("%q", got)
	}
	for name, r := range map[string]*released{
		"dates": of("2020-01-01", "2020-01-02"), "numbers": of(int64(1), int64(2)), "truth": of(false, true), "nothing": of(nil),
	} {
		if got := r.alphabetical(0); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := constantOf(`real:"-1/2"`); got == nil || got.Cmp(big.NewRat(-1, 2)) != 0 {
		t.Errorf("%v", got)
	}
}
