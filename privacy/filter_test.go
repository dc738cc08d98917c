package privacy_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

// last is the last unit: one part in 10³⁰.
var last = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil))

func epsilonOf(t *rapid.T, r *big.Rat) privacy.Epsilon {
	e, err := privacy.EpsilonOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func pureLoss(t *testing.T, text string) privacy.Loss { return privacy.PureLoss(epsilon(t, text)) }

// ratOf is the ε of a pure loss.
func ratOf(l privacy.Loss) *big.Rat {
	e, _ := l.Pure()
	return e.Rat()
}

// TestPureFilterNeverExceeds charges prices that an adversary picks knowing what remains: at random, all of it, and the
// last unit more or less than all of it. What is admitted is summed apart from the filter.
func TestPureFilterNeverExceeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := big.NewRat(rapid.Int64Range(0, 5000).Draw(t, "thousandths"), 1000)
		filter := privacy.NewFilter(privacy.PureLoss(epsilonOf(t, budget)))
		admitted := new(big.Rat)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			remaining := new(big.Rat).Sub(budget, admitted)
			price := new(big.Rat)
			switch rapid.IntRange(0, 4).Draw(t, "choice") {
			case 0:
				price.SetFrac64(rapid.Int64Range(0, 1<<40).Draw(t, "n"), rapid.Int64Range(1, 1<<40).Draw(t, "d"))
			case 1:
				price.Mul(remaining, big.NewRat(rapid.Int64Range(0, 7).Draw(t, "share"), 7))
			case 2:
				price.Add(remaining, last)
			case 3:
				if price.Sub(remaining, last).Sign() < 0 {
					price.SetInt64(0)
				}
			case 4:
				price.Set(remaining)
			}
			before := filter.Spent()
			err := filter.Charge(privacy.PureLoss(epsilonOf(t, price)))
			fits := price.Cmp(remaining) <= 0
			var exhausted *privacy.OverdrawError
			switch {
			case fits != (err == nil):
				t.Fatalf("a price of %s with %s remaining: %v", price, remaining, err)
			case err == nil:
				admitted.Add(admitted, price)
			case !errors.As(err, &exhausted) || ratOf(exhausted.Remaining).Cmp(remaining) != 0 ||
				ratOf(exhausted.Price).Cmp(price) != 0:
				t.Fatalf("the refusal says %v", err)
			case ratOf(filter.Spent()).Cmp(ratOf(before)) != 0:
				t.Fatal("a refusal changed what is spent")
			}
			if admitted.Cmp(budget) > 0 || ratOf(filter.Spent()).Cmp(admitted) != 0 ||
				ratOf(filter.Budget()).Cmp(budget) != 0 {
				t.Fatalf("%s of %s is spent, and the filter says %s", admitted, budget, filter.Spent())
			}
			if left := new(big.Rat).Sub(budget, admitted); ratOf(filter.Remaining()).Cmp(left) != 0 {
				t.Fatalf("%s remains, and the filter says %s", left, filter.Remaining())
			}
		}
	})
}

func TestPureFilterRecordsHistory(t *testing.T) {
	filter := privacy.NewFilter(pureLoss(t, "1"))
	filter.Record(pureLoss(t, "1.5"))
	if !filter.Remaining().IsZero() || filter.Spent().String() != "ε = 1.5" {
		t.Errorf("spent %s, remaining %s", filter.Spent(), filter.Remaining())
	}
	if filter.Charge(pureLoss(t, "1e-64")) == nil {
		t.Error("a price was admitted beyond an overdrawn budget")
	}
}

// TestPureFilterTenTenths: ten tenths are one, which floats do not know.
func TestPureFilterTenTenths(t *testing.T) {
	filter := privacy.NewFilter(pureLoss(t, "1"))
	for i := range 10 {
		if err := filter.Charge(pureLoss(t, "0.1")); err != nil {
			t.Fatalf("tenth %d: %v", i+1, err)
		}
	}
	if !filter.Remaining().IsZero() || filter.Charge(pureLoss(t, "1e-30")) == nil {
		t.Errorf("%s remains", filter.Remaining())
	}
}
