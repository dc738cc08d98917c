package selection

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

func TestSelectionRefusals(t *testing.T) {
	e, d := mechtest.EpsilonRatio(t, 1, 1), big.NewInt(1)
	some := mechtest.Exacts(0, 1)
	long := new(big.Int).Lsh(d, 5000)
	refused := map[string]error{}
	try := func(name string, err error) { refused[name] = err }
	for name, c := range map[string]struct {
		sensitivity *big.Int
		epsilon     privacy.Epsilon
		scores      []mechanism.Exact
		k           int
	}{
		"no sensitivity":     {nil, e, some, 1},
		"a sensitivity of 0": {new(big.Int), e, some, 1},
		"a negative one":     {big.NewInt(-1), e, some, 1},
		"an endless one":     {long, e, some, 1},
		"no epsilon":         {d, privacy.Epsilon{}, some, 1},
		"nobody":             {d, e, nil, 1},
		"none of two":        {d, e, some, 0},
		"three of two":       {d, e, some, 3},
		"fewer than none":    {d, e, some, math.MinInt},
		"more than there is": {d, e, some, math.MaxInt},
	} {
		_, err := TopExponential{c.k, c.sensitivity, false, c.epsilon}.Select(c.scores)
		try("peeling: "+name, err)
		_, err = NoisyTop{c.k, c.sensitivity, true, c.epsilon}.Select(c.scores)
		try("noisy top: "+name, err)
		if c.k == 1 {
			_, err = Exponential{c.sensitivity, true, c.epsilon}.Select(c.scores)
			try("exponential: "+name, err)
			_, err = PermuteAndFlip{c.sensitivity, true, c.epsilon}.Select(c.scores)
			try("permute-and-flip: "+name, err)
			_, err = NoisyMax{c.sensitivity, true, c.epsilon}.Select(c.scores)
			try("noisy max: "+name, err)
		}
	}
	_, err := Exponential{d, false, e}.SelectWithin(nil)
	try("no space", err)
	_, err = Exponential{
		d, false,
		e,
	}.SelectWithin(
		slices.Values([]OutputInterval{{
			mechanism.NewExact(big.NewInt(5)), mechanism.NewExact(big.NewInt(5)),
			mechanism.NewExact(nil),
		}}))
	try("an empty space", err)
	for name, beta := range map[string]float64{"0": 0, "negative": -1, "above 1": 1.5, "NaN": math.NaN()} {
		_, err = Exponential{d, false, e}.Shortfall(d, beta)
		try("beta "+name, err)
		_, err = NoisyMax{d, false, e}.Shortfall(2, beta)
		try("noisy beta "+name, err)
	}
	_, err = Exponential{d, false, e}.Shortfall(nil, .5)
	try("a bound over nothing", err)
	_, err = TopExponential{1, d, false, e}.Shortfall(nil, .5)
	try("a bound of several over nothing", err)
	_, err = NoisyMax{d, false, e}.Shortfall(0, .5)
	try("a bound over no draws", err)
	_, err = NoisyMax{d, false, e}.Shortfall(5, math.SmallestNonzeroFloat64)
	try("a bound of no probability", err)
	_, err = NoisyMax{new(big.Int).Lsh(d, 300), false, e}.Select(some)
	try("more noise than is drawn", err)
	for name, err := range refused {
		if !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSelectionExtremes: scores, sensitivities and losses far out are served, and in no time.
func TestSelectionExtremes(t *testing.T) {
	far := new(big.Int).Lsh(big.NewInt(1), 200)
	scores := []mechanism.Exact{
		mechanism.NewExact(far),
		{},
		mechanism.NewExact(new(big.Int).Neg(far)),
		mechanism.NewExact(far),
		{},
		mechtest.Exacts(math.MinInt64)[0],
	}
	huge := mechtest.EpsilonRatio(t, 1e6, 1)
	tiny, err := privacy.EpsilonOf(new(big.Rat).SetFrac(big.NewInt(1),
		new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []privacy.Epsilon{tiny, huge} {
		for _, d := range []*big.Int{big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 300)} {
			for range 50 {
				a, err := Exponential{d, false, e}.Select(scores)
				b, err2 := PermuteAndFlip{d, false, e}.Select(scores)
				c, err3 := TopExponential{6, d, false, e}.Select(scores)
				if err := errors.Join(err, err2, err3); err != nil {
					t.Fatal(err)
				}
				if d.BitLen() == 1 &&
					(a.Index%3 != 0 || b.Index%3 != 0 || c.Indices[0]%3 != 0 || c.Indices[1]%3 != 0 ||
						c.Indices[5] != 2) {
					t.Errorf("at %s: %v, %v, %v", e, a, b, c)
				}
			}
		}
	}
	top, err := NoisyTop{6, big.NewInt(1), false, tiny}.Select(scores)
	if err != nil || top.Indices[0]%3 != 0 || len(top.Gaps) != 5 {
		t.Errorf("%v, %v", top, err)
	}
	if _, err := (NoisyTop{2, big.NewInt(1), false, huge}).Select(mechtest.Exacts(0, 0, 0)); err != nil {
		t.Error(err)
	}
}
