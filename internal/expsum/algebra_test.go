package expsum_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/expsum"
)

// tree is an expression: its text, and its value in floats of 400 digits, by another way.
type tree struct {
	text  string
	value *big.Float
}

const precision = 400

func float(r *big.Rat) *big.Float { return new(big.Float).SetPrec(precision).SetRat(r) }

// power is e^r by Taylor's series at r/2³⁰, squared thirty times.
func power(r *big.Rat) *big.Float {
	x := float(r)
	x.SetMantExp(x, -30)
	sum, term := float(big.NewRat(1, 1)), float(big.NewRat(1, 1))
	for k := int64(1); k < 30; k++ {
		term.Quo(term.Mul(term, x), float(big.NewRat(k, 1)))
		sum.Add(sum, term)
	}
	for range 30 {
		sum.Mul(sum, sum)
	}
	return sum
}

// trees draws expressions that divide by no zero.
func trees(depth int) *rapid.Generator[tree] {
	return rapid.Custom(func(t *rapid.T) tree {
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 {
			kind %= 2
		}
		small := func(what string) *big.Rat {
			return big.NewRat(rapid.Int64Range(-6, 6).Draw(t, what), rapid.Int64Range(1, 4).Draw(t, what+"/"))
		}
		switch kind {
		case 0:
			r := small("r")
			return tree{"(" + r.RatString() + ")", float(r)}
		case 1:
			r := small("r")
			return tree{"exp(" + r.RatString() + ")", power(r)}
		}
		a, b := trees(depth-1).Draw(t, "a"), trees(depth-1).Draw(t, "b")
		z := new(big.Float).SetPrec(precision)
		switch {
		case kind == 2:
			return tree{"(" + a.text + " + " + b.text + ")", z.Add(a.value, b.value)}
		case kind == 3:
			return tree{"(" + a.text + " - " + b.text + ")", z.Sub(a.value, b.value)}
		case kind == 4 && near(b.value) != 0:
			return tree{a.text + "/" + "(" + b.text + ")", z.Quo(a.value, b.value)}
		}
		return tree{a.text + "*(" + b.text + ")", z.Mul(a.value, b.value)}
	})
}

// near is the sign of what is not 0 but for rounding.
func near(x *big.Float) int {
	if x.MantExp(nil) < -precision/2 {
		return 0
	}
	return x.Sign()
}

// Numbers have the signs, the order and the floats of what they stand for; equal ones are found equal; and texts are read back.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := trees(2).Draw(t, "a"), trees(2).Draw(t, "b")
		x, err := expsum.Parse(a.text)
		if err != nil {
			t.Fatalf("%s: %v", a.text, err)
		}
		y, err := expsum.Parse(b.text)
		if err != nil {
			t.Fatalf("%s: %v", b.text, err)
		}
		if x.Sign() != near(a.value) {
			t.Fatalf("the sign of %s is %d", a.text, x.Sign())
		}
		if order, err := x.Cmp(y); err != nil || order != near(new(big.Float).Sub(a.value, b.value)) {
			t.Fatalf("%s beside %s: %d, %v", a.text, b.text, order, err)
		}
		lower, upper := x.Floats()
		slack := new(big.Float).SetMantExp(big.NewFloat(1), -precision/2)
		if new(big.Float).Sub(big.NewFloat(lower), a.value).Cmp(slack) > 0 || new(big.Float).Sub(a.value, big.NewFloat(upper)).Cmp(slack) > 0 {
			t.Fatalf("%s is not in [%v, %v]", a.text, lower, upper)
		}
		back, err := expsum.Parse(x.String())
		if err != nil {
			t.Fatalf("%s: %v", x, err)
		}
		if order, err := back.Cmp(x); err != nil || order != 0 {
			t.Fatalf("%s was read as %s", x, back)
		}
		if r, ok := x.Rat(); ok && near(new(big.Float).Sub(float(r), a.value)) != 0 {
			t.Fatalf("%s is said to be %v", a.text, r)
		}
	})
}

// The laws of a field.
func TestField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n [3]*expsum.Number
		for i := range n {
			x, err := expsum.Parse(trees(1).Draw(t, "x").text)
			if err != nil {
				t.Fatal(err)
			}
			n[i] = x
		}
		do := func(x *expsum.Number, err error) *expsum.Number {
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		same := func(what string, x, y *expsum.Number) {
			if order, err := x.Cmp(y); err != nil || order != 0 {
				t.Fatalf("%s: %s, %s, %s: %s is not %s", what, n[0], n[1], n[2], x, y)
			}
		}
		x, y, z := n[0], n[1], n[2]
		same("(x + y)z = xz + yz", do(do(x.Add(y)).Mul(z)), do(do(x.Mul(z)).Add(do(y.Mul(z)))))
		same("(x + y) + z = x + (y + z)", do(do(x.Add(y)).Add(z)), do(x.Add(do(y.Add(z)))))
		same("xy = yx", do(x.Mul(y)), do(y.Mul(x)))
		same("(x − y) + y = x", do(do(x.Sub(y)).Add(y)), x)
		if q, err := x.Quo(y); y.Sign() == 0 {
			if !errors.Is(err, expsum.ErrZero) {
				t.Fatalf("%s/0 is %v, %v", x, q, err)
			}
		} else {
			same("(x/y)·y = x", do(do(q, err).Mul(y)), x)
		}
	})
}

// No text makes the parser panic, and a number's text is read as the number.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"1/3", "exp(1)/(200+exp(1))", "-2^-3", "(1 - exp(-0.5))^2/2", "1e-300", ".5", "((((1))))", "1/(exp(1)-exp(1))"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 500 { // long ones may take a second each
			return
		}
		x, err := expsum.Parse(text)
		if err != nil {
			if !errors.Is(err, expsum.ErrSyntax) && !errors.Is(err, expsum.ErrSize) && !errors.Is(err, expsum.ErrZero) {
				t.Fatal(err)
			}
			return
		}
		back, err := expsum.Parse(x.String())
		if errors.Is(err, expsum.ErrSize) { // a text of too many digits
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", x, err)
		}
		if order, err := back.Cmp(x); err != nil && !errors.Is(err, expsum.ErrSize) || order != 0 {
			t.Fatalf("%s was read as %s", x, back)
		}
	})
}
