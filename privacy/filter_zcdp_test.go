package privacy_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

// TestZCDPFilterNeverExceeds charges prices that an adversary picks knowing what remains, pure ones among them. What is
// admitted is summed apart from the filter, ρ and δ each.
func TestZCDPFilterNeverExceeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := privacy.ZCDPLoss(ratRhoOf(t, big.NewRat(rapid.Int64Range(0, 5000).Draw(t, "ρ/1000"), 1000)),
			ratDeltaOf(t, big.NewRat(rapid.Int64Range(0, 999).Draw(t, "δ/1000"), 1000)))
		budgetRho, budgetDelta := budget.ZCDP()
		filter := privacy.NewFilter(budget)
		rhoSum, deltaSum := new(big.Rat), new(big.Rat)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			left := new(big.Rat).Sub(budgetRho.Rat(), rhoSum)
			leftDelta := new(big.Rat).Sub(budgetDelta.Rat(), deltaSum)
			var price privacy.Loss
			switch rapid.IntRange(0, 5).Draw(t, "choice") {
			case 0:
				price = losses().Draw(t, "price")
			case 1:
				share := big.NewRat(rapid.Int64Range(0, 7).Draw(t, "share"), 7)
				price = privacy.ZCDPLoss(ratRhoOf(t, new(big.Rat).Mul(left, share)),
					ratDeltaOf(t, new(big.Rat).Mul(leftDelta, share)))
			case 2:
				price = privacy.ZCDPLoss(ratRhoOf(t, new(big.Rat).Add(left, last)), privacy.Delta{})
			case 3:
				price = privacy.ZCDPLoss(privacy.Rho{}, ratDeltaOf(t, new(big.Rat).Add(leftDelta, last)))
			case 4:
				price = privacy.ZCDPLoss(ratRhoOf(t, left), ratDeltaOf(t, leftDelta))
			case 5:
				price = privacy.PureLoss(ratRhoOf(t, left).Pure())
			}
			r, d := price.ZCDP()
			fits := r.Rat().Cmp(left) <= 0 && d.Rat().Cmp(leftDelta) <= 0
			err := filter.Charge(price)
			var overdrawn *privacy.OverdrawError
			switch {
			case fits != (err == nil):
				t.Fatalf("a price of %s with %s and %s remaining: %v", price, left, leftDelta, err)
			case err == nil:
				rhoSum.Add(rhoSum, r.Rat())
				deltaSum.Add(deltaSum, d.Rat())
			case !errors.As(err, &overdrawn) || !same(overdrawn.Price, price) ||
				!same(overdrawn.Remaining, filter.Remaining()) || !same(overdrawn.Budget, budget):
				t.Fatalf("the refusal says %v", err)
			}
			spentRho, spentDelta := filter.Spent().ZCDP()
			leftRho, leftD := filter.Remaining().ZCDP()
			if rhoSum.Cmp(budgetRho.Rat()) > 0 || deltaSum.Cmp(budgetDelta.Rat()) > 0 ||
				spentRho.Rat().Cmp(rhoSum) != 0 || spentDelta.Rat().Cmp(deltaSum) != 0 {
				t.Fatalf("%s and %s of %s are spent, and the filter says %s", rhoSum, deltaSum, budget, filter.Spent())
			}
			if leftRho.Rat().Add(leftRho.Rat(), rhoSum).Cmp(budgetRho.Rat()) != 0 ||
				leftD.Rat().Add(leftD.Rat(), deltaSum).Cmp(budgetDelta.Rat()) != 0 {
				t.Fatalf("the filter says that %s remains", filter.Remaining())
			}
		}
	})
}

func ratRhoOf(t *rapid.T, r *big.Rat) privacy.Rho {
	s, err := privacy.RhoOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ratDeltaOf(t *rapid.T, r *big.Rat) privacy.Delta {
	d, err := privacy.DeltaOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFilterCountsPureOnesOneByOne: 100 answers at ε = 0.1 cost ρ = 0.5 together, where their sum, ε = 10, would
// cost 50.
func TestFilterCountsPureOnesOneByOne(t *testing.T) {
	filter := privacy.NewFilter(zcdp(t, "0.5", "0"))
	for i := range 100 {
		if err := filter.Charge(pure(t, "0.1")); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
	}
	err := filter.Charge(pure(t, "1e-30"))
	if err == nil || err.Error() != "the budget is exhausted: the price is ε = 0.000000000000000000000000000001, but only ρ = 0 of ρ = 0.5 remains" {
		t.Errorf("the refusal says %v", err)
	}
}

func TestFilterRecordsHistory(t *testing.T) {
	// One part beyond its budget leaves nothing of the other.
	filter := privacy.NewFilter(zcdp(t, "1", "0.1"))
	filter.Record(zcdp(t, "0.5", "0.7"))
	filter.Record(zcdp(t, "0", "0.7"))
	if r, d := filter.Spent().ZCDP(); !filter.Remaining().IsZero() || r.String() != "0.5" || d.String() != "1" ||
		filter.Charge(zcdp(t, "0.1", "0")) == nil {
		t.Errorf("spent %s, remaining %s", filter.Spent(), filter.Remaining())
	}
	if !same(filter.Budget(), zcdp(t, "1", "0.1")) {
		t.Errorf("the budget became %s", filter.Budget())
	}
	// A zCDP loss has no place in a pure budget: refused, and if it happened, the end of it.
	filter = privacy.NewFilter(pure(t, "5"))
	var overdrawn *privacy.OverdrawError
	if err := filter.Charge(zcdp(t, "1e-9", "0")); !errors.As(err, &overdrawn) ||
		!same(overdrawn.Remaining, pure(t, "5")) {
		t.Errorf("zCDP was admitted: %v", err)
	}
	filter.Record(zcdp(t, "1e-9", "0"))
	if err := filter.Charge(pure(t, "1e-9")); err == nil || !same(filter.Remaining(), pure(t, "0")) {
		t.Errorf("after a zCDP loss: %v, %s remains", err, filter.Remaining())
	}
}
