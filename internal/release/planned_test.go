package release

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/plan"
	"dither/mechanism"
	"dither/noise"
	"dither/privacy"
)

// A loss, a price or a scale that is not the planned one is refused.
func TestAsPlanned(t *testing.T) {
	one := must[privacy.Epsilon](t)(privacy.ParseEpsilon("1"))
	e, more := one, one.Share(3, 2)
	pure, gauss := privacy.PureLoss, privacy.ZCDPLoss(e.Rho(), privacy.Delta{})
	for what, err := range map[string]error{
		"more loss": costsAsPlanned(pure(more), pure(e)), "less loss": costsAsPlanned(pure(e), pure(more)), "another accountant": costsAsPlanned(gauss, pure(e)),
		"a price": paidFor(pure(e), pure(more), privacy.Loss{}), "a zCDP price": paidFor(gauss, pure(more), privacy.Loss{}),
		"a least loss": paidFor(gauss, pure(e), privacy.ZCDPLoss(more.Rho(), privacy.Delta{})), "a scale": scaledAsPlanned(big.NewRat(1, 1), big.NewRat(2, 1)),
	} {
		if !errors.Is(err, ErrUnplanned) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"loss": costsAsPlanned(pure(e), pure(e)), "price": paidFor(pure(e), pure(e), privacy.Loss{}), "zCDP price": paidFor(gauss, pure(e), privacy.Loss{}),
		"least loss": paidFor(gauss, pure(more), gauss),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// So is noise off a symmetric matrix's diagonal that has not half of the variance.
func TestSymmetricAsPlanned(t *testing.T) {
	loss := privacy.ZCDPLoss(must[privacy.Rho](t)(privacy.ParseRho("0.5")), privacy.Delta{})
	one := big.NewRat(1, 1)
	same, half := must[noise.DiscreteGaussian](t)(noise.NewDiscreteGaussian(one)), must[noise.DiscreteGaussian](t)(noise.NewDiscreteGaussian(big.NewRat(1, 2)))
	planned := &plan.Measure{Noise: plan.Gaussian, Parameter: one, Loss: loss}
	for off, want := range map[noise.Distribution]bool{same: false, half: true} {
		got := mechanism.SymmetricMeasurement{Measurement: mechanism.Measurement{Noise: same, Loss: loss}, OffDiagonal: off}
		if err := symmetricAsPlanned(planned, got); (err == nil) != want {
			t.Errorf("off the diagonal %v: %v", off, err)
		}
	}
}
