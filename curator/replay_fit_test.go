package curator

import (
	"math/big"
	"testing"

	"dither/audit"
)

// Minimize and Train on two homes that differ by one person who pulls as hard as they can, with the same randomness: what is read of it, charged and
// recorded is the same, and what is released differs by no more than the sensitivity on integers that the noise was planned for.

func TestReplayMinimize(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one":       newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, zCDP": newTwins(t, zcdpTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one, zCDP": newTwins(t, bothTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
	} {
		for i, q := range []Minimisation{
			{Request: Request{SQL: "SELECT age / 115.0, 1, change > 0 FROM people"}, Loss: LogisticLoss, Radius: "3", Regularise: "2", Rows: 5},
			{Request: Request{SQL: "SELECT age / 115.0, 1, change FROM people"}, Loss: HuberLoss, Width: "4", Radius: "30", Regularise: "3", Rows: 5},
			{Request: Request{SQL: "SELECT 1, cost / 10.0, cost FROM visits"}, Loss: PoissonLoss, Radius: "1", Regularise: "40", Rows: 3},
		} {
			name := relation + ": " + q.Loss + ": " + q.SQL
			p, err := w[0].minimisation(q)
			if err != nil {
				t.Fatal(name, err)
			}
			r := w.replay(t, byte(i), func(c *Owner) ([]*big.Int, error) {
				m, err := c.Minimize(t.Context(), q)
				if err != nil {
					return nil, err
				}
				return m.Coefficients.Values, nil
			})
			sameFlow(t, name, r, "reserve", "release")
			apart, err := r.Apart()
			if err != nil {
				t.Fatal(err)
			}
			allowed := audit.Distances{L1: new(big.Rat).SetInt(p.Parts()[0].L1()), L2Squared: new(big.Rat).SetInt(p.Parts()[0].L2Squared())}
			if err := apart.Within(allowed); err != nil || apart.L1.Sign() == 0 {
				t.Errorf("%s: apart by %v: %v", name, apart.L1, err)
			}
			share, _ := new(big.Rat).Quo(apart.L2Squared, allowed.L2Squared).Float64()
			t.Logf("%s: %.3f of the squared L2 sensitivity", name, share)
			q.Curvature, q.Fresh = "0.5", true
			sameFlow(t, name, w.replay(t, byte(i), func(c *Owner) ([]*big.Int, error) {
				m, err := c.Minimize(t.Context(), q)
				if err != nil {
					return nil, err
				}
				return m.Coefficients.Values, nil
			}), "reserve", "release")
		}
	}
}

// Derivatives on two homes that differ by one person: the same is read, charged and recorded, and what is released differs
// by no more than the sensitivities of the noise: the largest coordinate's under a pure price, the L2 norm's under ρ.
func TestReplayDerivatives(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one":       newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, zCDP": newTwins(t, zcdpTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one, zCDP": newTwins(t, bothTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
	} {
		for i, q := range []Derivation{
			{Request: Request{SQL: "SELECT age / 115.0, 1, change > 0 FROM people"}, At: []string{"0", "0"}},
			{Request: Request{SQL: "SELECT age / 115.0, 1, change > 0 FROM people"}, At: []string{"-1.5", "0.25"}, Hessian: "0.4"},
			{Request: Request{SQL: "SELECT 1, cost / 10.0, cost > 3 FROM visits"}, At: []string{"0.5", "1"}, Hessian: "0.4", Bound: "1.2"},
			{Request: Request{SQL: "SELECT age / 115.0, 1, change > 0 FROM people"}, At: []string{"0.5", "0.5"}, Hessian: "0.4", Leverage: "0.7"},
		} {
			name := relation + ": " + q.SQL
			m, err := w[0].derivation(q)
			if err != nil {
				t.Fatal(name, err)
			}
			for j, p := range m.Parts() {
				q.Fresh = true
				r := w.replay(t, byte(20+i), func(c *Owner) ([]*big.Int, error) {
					d, err := c.Derivatives(t.Context(), q)
					if err != nil {
						return nil, err
					}
					if j == 1 {
						return d.Hessian.Values, nil
					}
					return d.Gradient.Values, nil
				})
				sameFlow(t, name, r, "reserve", "release")
				apart, err := r.Apart()
				if err != nil {
					t.Fatal(err)
				}
				allowed := audit.Distances{LInf: new(big.Rat).SetInt(p.LInf()), L2Squared: new(big.Rat).SetInt(p.L2Squared())}
				if err := apart.Within(allowed); err != nil || apart.LInf.Sign() == 0 {
					t.Errorf("%s: the %s is apart by %v: %v", name, p.Name(), apart.LInf, err)
				}
				share, _ := new(big.Rat).Quo(apart.LInf, allowed.LInf).Float64()
				t.Logf("%s: %s: %.3f of the sensitivity", name, p.Name(), share)
			}
		}
	}
}

func TestReplayTrain(t *testing.T) {
	terms := zcdpTerms
	terms.budget += ", selection_delta: 5e-7"
	w := newTwins(t, terms, [2]string{"", somebody}, [2]string{"", somebodys})
	for i, q := range []Training{
		{Request: Request{SQL: "SELECT age / 115.0, 1, change > 0 FROM people"}, Model: TrainedModel{Kind: LogisticModel}},
		{Request: Request{SQL: "SELECT cost / 10.0, 1, cost FROM visits"}, Model: TrainedModel{Kind: NetworkModel, Classes: 3, Hidden: 2}},
	} {
		q.Clip, q.Rate, q.Multiplier, q.Steps, q.Rows = "0.25", "1", "3", 2, 5
		tr, err := w[0].training(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		_, clip, err := tr.training.Terms().Step().Grid()
		if err != nil {
			t.Fatal(err)
		}
		for step := range 2 {
			q.Fresh = true
			r := w.replay(t, byte(10+i), func(c *Owner) ([]*big.Int, error) {
				tr, err := c.Train(t.Context(), q)
				if err != nil {
					return nil, err
				}
				defer tr.Close()
				theta := make([]float64, tr.Parameters)
				var g *Gradient
				for range step + 1 {
					if g, err = tr.Step(t.Context(), theta); err != nil {
						return nil, err
					}
					for i := range theta {
						theta[i] += 0.3 // the same on both sides, whatever was told
					}
				}
				return g.Values, nil
			})
			sameFlow(t, q.SQL, r, []string{"reserve", "step", "release"}[:step+2]...)
			allowed := audit.Distances{L2Squared: new(big.Rat).SetInt64(clip * clip)}
			if err := r.Check(allowed); err != nil {
				t.Errorf("%s, step %d: %v", q.SQL, step+1, err)
			}
			apart, err := r.Apart()
			if err != nil {
				t.Fatal(err)
			}
			if share, _ := new(big.Rat).Quo(apart.L2Squared, allowed.L2Squared).Float64(); share < 0.99 {
				t.Errorf("%s, step %d: %g of the squared clip: this shows little", q.SQL, step+1, share)
			}
		}
	}
}
