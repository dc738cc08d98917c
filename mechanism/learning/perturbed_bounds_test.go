package learning

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// The scale of b, the two losses and the sensitivity of the output are what the proof says, within a part in a million
// and on the safe side.
func TestPerturbedTerms(t *testing.T) {
	for _, of := range []struct {
		relation                                privacy.Neighbours
		most                                    int64
		d                                       int
		radius, lambda, bound, each, epsilon, a float64
	}{
		{privacy.AddRemove, 1, 3, 3, 4, 2, 1, 4, 1},
		{privacy.ChangeOne, 1, 3, 3, 4, 2, 1, 4, 2},
		{privacy.AddRemove, 5, 1, 3, 40, 2, 2, 8, 1},
		{privacy.ChangeOne, 7, 8, 500, 90, 1.5, 0.5, 20, 2},
	} {
		o := Objective{Loss: LogisticLoss, Radius: ratOf(of.radius), Regularise: ratOf(of.lambda), Rows: 60}
		e := epsilonOf(t, big.NewRat(int64(of.epsilon), 1).FloatString(0))
		p, err := NewPerturbed(o, of.d, ratOf(of.bound), ratOf(of.each), mechanism.Unit{Neighbours: of.relation, MaxRows: of.most}, e)
		if err != nil {
			t.Fatal(err)
		}
		// at least want, and at most a millionth more
		safe := func(name string, got, want float64) {
			if !(got >= want*(1-1e-12) && got <= want*(1+1e-6)) {
				t.Errorf("%+v: %s is %g, want %g", of, name, got, want)
			}
		}
		m := float64(of.most)
		apart := of.a*m*of.each + of.lambda*m*of.radius/60
		lost := m*math.Log1p(of.bound*of.bound/(4*of.lambda)) + float64(of.d)*math.Log1p(m/60)
		g := math.Ldexp(1, p.m.rowGrid-p.m.slopeBits)
		scale, _ := p.Scale().Float64()
		safe("Δ", p.Apart(), apart)
		safe("the scale", scale*g, apart/(of.epsilon*63/64-lost))
		if sum, price := p.Loss().Plus(p.OutputLoss()), privacy.PureLoss(e); !sum.Within(price) || !price.Within(sum) {
			t.Errorf("%+v: the losses are %s and %s", of, p.Loss(), p.OutputLoss())
		}
		linf, _ := new(big.Float).SetInt(p.Output().LInf).Float64()
		off := p.Tolerance() + math.Sqrt(float64(of.d))*g/of.lambda
		if least := 2*math.Ldexp(off, -p.Output().Grid) + 1; !(linf >= least && linf <= least*1.001+2) {
			t.Errorf("%+v: the output changes by %g units, want %g", of, linf, least)
		}
		plain, err := NewMinimiser(o, of.d, ratOf(of.bound), mechanism.Unit{Neighbours: of.relation, MaxRows: of.most})
		if err != nil {
			t.Fatal(err)
		}
		if least := plain.slack + p.m.kappa()*0x1p-48*of.radius; !(p.m.slack >= least) {
			t.Errorf("%+v: a slack of %g for the length of the term, want %g", of, p.m.slack, least)
		}
	}
}

// Δ is reached: for each relation there are neighbours whose gradients at one θ differ by nearly as much, with the
// regulariser's growth beyond N rows.
func TestPerturbedApart(t *testing.T) {
	const radius, lambda, each, bound, most, n = 40.0, 25.0, 0.5, 1.0, 3, 60
	for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
		p := perturbed(t, 3, radius, lambda, bound, each, mechanism.Unit{Neighbours: relation, MaxRows: most}, "40")
		// A row pulls with ℓ′x, and |ℓ′| is nearly 1 where the response is far from certain. Rows of zeros only count.
		theta := []float64{20, 0, 34}
		gradient := func(rows [][]float64, count int) []float64 {
			out := make([]float64, 3)
			for i, x := range theta {
				out[i] = lambda * max(1, float64(count)/n) * x
			}
			for _, row := range rows {
				z := row[0]*theta[0] + row[1]*theta[1] + row[2]*theta[2]
				for i := range out {
					out[i] += (1/(1+math.Exp(-z)) - row[3]) * row[i]
				}
			}
			return out
		}
		with := slices.Repeat([][]float64{{each, each, each, 0}}, most)
		less := [][]float64{}
		if relation == privacy.ChangeOne { // other rows instead, and two counts differ only under add-remove
			less = slices.Repeat([][]float64{{-each, -each, each, 0}}, most)
		}
		a, b, most := gradient(with, n+len(with)), gradient(less, n+len(less)), 0.0
		for i := range a {
			most = max(most, math.Abs(a[i]-b[i]))
		}
		reached := p.Apart()
		if relation == privacy.ChangeOne {
			reached -= lambda * 3 * radius / n
		} else { // the largest number of θ is below the radius
			reached -= lambda * 3 * (radius - theta[2]) / n
		}
		if !(most <= p.Apart() && most >= reached*0.99) {
			t.Errorf("%v: the gradients differ by %g, and Δ is %g", relation, most, p.Apart())
		}
	}
}

// A predictor beyond its bound counts as the bound: the same b gives the same minimum, and another one without the bound.
func TestPerturbedClamps(t *testing.T) {
	const each = 0.5
	u := mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
	minimum := func(p *Perturbed, units [][][]float64) (out []string) {
		tilt := []*big.Int{new(big.Int).Lsh(big.NewInt(1), 40), new(big.Int).Lsh(big.NewInt(-3), 40)}
		x, err := p.minimum(t.Context(), problem{d: 2, units: units}.rows(t, 2, 1), tilt)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range x {
			out = append(out, opaque.Open(v).String())
		}
		return out
	}
	far := [][][]float64{{{1.5, -0.25, 1}}, {{0.25, -1, 0}}, {{-1.75, 0.5, 1}}}
	near := [][][]float64{{{each, -0.25, 1}}, {{0.25, -each, 0}}, {{-each, 0.5, 1}}}
	clamped, free := perturbed(t, 2, 3, 4, 2, each, u, "4"), perturbed(t, 2, 3, 4, 2, 2, u, "4")
	if a, b := minimum(clamped, far), minimum(clamped, near); !slices.Equal(a, b) {
		t.Errorf("%v, and %v for the clamped rows", a, b)
	}
	if a, b := minimum(free, far), minimum(free, near); slices.Equal(a, b) {
		t.Errorf("%v for different rows", a)
	}
}
