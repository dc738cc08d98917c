package quantile

import (
	"math"
	"math/big"
	"testing"

	"dither/mechanism/internal/mechtest"
)

// nearTerms are so many terms of which all are within 2⁻³⁰ of the largest: gaps near exp(βk)·2³⁰.
func nearTerms(beta *big.Rat, many int64) smoothBound {
	b, _ := beta.Float64()
	var out smoothBound
	for k := range many {
		out = append(out, smoothTerm{int64(math.Round(0x1p30 * math.Exp(b*float64(k)))), k})
	}
	return out
}

// TestSmoothTermsAreSettled compares what is kept with all terms, by intervals: the bound is the same to the last bit,
// from one term alone.
func TestSmoothTermsAreSettled(t *testing.T) {
	for _, beta := range []*big.Rat{big.NewRat(1, 150), big.NewRat(1, 100), big.NewRat(1, 50)} {
		all := nearTerms(beta, 1000)
		kept := all.settle(beta)
		if len(kept) != 1 {
			t.Errorf("β = %s: %d terms are kept", beta, len(kept))
		}
		a, b := all.enclose(beta, 100)
		c, d := kept.enclose(beta, 100)
		if a.Cmp(c) != 0 || b.Cmp(d) != 0 {
			t.Errorf("β = %s: of all terms within [%v, %v], of those kept within [%v, %v]", beta, a, b, c, d)
		}
	}
}

// TestSmoothTies has terms 2ᵏ·exp(−βk) for a β near ln 2, by 60 digits of it and by 100: at 60, one end is the
// largest, and at 100 no comparison at this precision tells, so all must be kept.
func TestSmoothTies(t *testing.T) {
	// and 42001…
	const ln2 = "0.6931471805599453094172321214581765680755001343602552541206800094933936219696947156058633269964186875"
	digits := func(n int, above int64) *big.Rat {
		r, _ := new(big.Rat).SetString(ln2[:2+n])
		unit, _ := new(big.Rat).SetString("1e-" + big.NewInt(int64(n)).String())
		return r.Add(r, unit.Mul(unit, big.NewRat(above, 1)))
	}
	var all smoothBound
	for k := range int64(60) {
		all = append(all, smoothTerm{1 << k, k})
	}
	if kept := all.settle(digits(60, 0)); len(kept) != 1 || kept[0].k != 59 {
		t.Errorf("below ln 2: %v", kept)
	}
	if kept := all.settle(digits(60, 1)); len(kept) != 1 || kept[0].k != 0 {
		t.Errorf("above ln 2: %v", kept)
	}
	if kept := all.settle(digits(100, 0)); len(kept) != 60 {
		t.Errorf("at ln 2, nearly: %v", kept)
	}
}

// TestSmoothCraftedData has rows placed so that a term of every second k ties with the largest, as far as floats tell.
// One is left.
func TestSmoothCraftedData(t *testing.T) {
	m := Smooth{Unit: relations[0], Epsilon: mechtest.Epsilon(t, "0.001")}
	beta := 0.00075
	var data []int64
	for j := int64(1); j <= 13_000; j++ { // rows above the median; as many are at 0 below it
		m.Upper = int64(math.Round(0x1p30 * math.Exp(beta*float64(2*j-3))))
		data = append(data, 0, m.Upper)
	}
	p := m.parameters()
	w, err := m.around(p, orderedOf(data...))
	if err != nil {
		t.Fatal(err)
	}
	if all, kept := w.candidates(p), w.terms(p); len(all) < 12_000 || len(kept) != 1 {
		t.Errorf("of %d terms %d are kept", len(all), len(kept))
	}
}

func BenchmarkSmoothSettle(b *testing.B) {
	beta := big.NewRat(1, 10_000)
	all := nearTerms(beta, 200_000)
	for b.Loop() {
		if kept := all.settle(beta); len(kept) != 1 {
			b.Fatal(len(kept))
		}
	}
}
