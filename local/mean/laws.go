package mean

import (
	"math"
	"math/big"

	"dither/local/internal/coin"
	"dither/privacy"
)

// sign randomizes −1 or 1: it is flipped with probability flip.
//
// Claim: sign is ε-differentially private between −1 and 1. Proof: the probabilities are flip and 1 − flip, and flip
// is rounded up from 1/(e^ε + 1), so (1 − flip)/flip ≤ e^ε. ∎
//
// With the random rounding of x to ±1, a report is 1 with probability ½ + x(1 − 2·flip)/2. That is the mechanism of
// Duchi, Jordan & Wainwright in one dimension. Its mean is x(1 − 2·flip), so unit is 1/(1 − 2·flip).
type sign struct {
	flip coin.Coin
	unit float64
}

func newSign(e privacy.Epsilon) sign {
	one := coin.Whole(1)
	s := sign{flip: coin.Up(one.Quo(coin.Exp(e, 1, 1).Add(one)))}
	gap := new(big.Rat).Sub(s.flip.Tails(), s.flip.Rat())
	s.unit, _ = gap.Inv(gap).Float64()
	return s
}

func (s sign) draw(c coin.Chooser, x int64) int64 {
	if c.Toss(s.flip) {
		return -x
	}
	return x
}

// inputs is m, the number of steps of the input's grid from 0 to 1. steps is a, the number of steps of the output's
// grid for each of these.
const (
	inputs = 1 << 10
	steps  = 1 << 10
)

// window is the piecewise mechanism of Wang et al. 2019 on a grid. The input is i/m for an integer i from −m to m.
// The output is an integer from −l to l, with l = am + h. With probability 1 − out it is uniform in the window ai − h
// … ai + h, else uniform in the rest, which has 2am points.
//
// Claim: window is ε-differentially private between any two inputs. Proof: each output has the probability (1 −
// out)/(2h + 1) if it is in the window, and out/(2am) if not. newWindow rounds out up from 2am/((2h + 1)e^ε + 2am).
// So the ratio of the two is at most e^ε. It is above 1, since the rounding is far less than e^ε − 1. ∎
//
// The outputs sum up to 0, and those of the window to (2h + 1)ai. So the mean of an output is i·κ, with κ = (1 −
// out)a − out(2h + 1)/(2m), and output/(mκ) is unbiased for i/m. unit is 1/(mκ). For h ≈ am·e^(−ε/2), the law
// approaches that of the paper as the grids become fine.
type window struct {
	m, a, h, l int64
	out        coin.Coin
	unit       float64
	kappa      float64
}

func newWindow(e privacy.Epsilon, m, a int64) *window {
	h := coin.Round(coin.Whole(uint64(a * m)).Mul(coin.Exp(e, -1, 2)))
	w := &window{m: m, a: a, h: int64(h)}
	w.l = a*m + w.h
	rest := coin.Whole(uint64(2 * a * m))
	w.out = coin.Up(rest.Quo(coin.Whole(uint64(2*w.h + 1)).Mul(coin.Exp(e, 1, 1)).Add(rest)))
	kappa := w.out.Tails()
	kappa.Mul(kappa, big.NewRat(a, 1))
	kappa.Sub(kappa, new(big.Rat).Mul(w.out.Rat(), big.NewRat(2*w.h+1, 2*m)))
	w.kappa, _ = kappa.Float64()
	w.unit, _ = kappa.Inv(kappa.Mul(kappa, big.NewRat(m, 1))).Float64()
	return w
}

func (w *window) draw(c coin.Chooser, i int64) int64 {
	low := w.a*i - w.h // the window's first point
	if !c.Toss(w.out) {
		return low + int64(c.Below(uint64(2*w.h+1)))
	}
	// the points outside, in order: those below the window, then those above
	at := -w.l + int64(c.Below(uint64(2*w.a*w.m)))
	if at >= low {
		at += 2*w.h + 1
	}
	return at
}

// variance returns the variance of the estimate of x: over the rounding of x to the grid, and given the grid point i
// by E[y²] = (1 − out)S(window)/(2h + 1) + out(S(all) − S(window))/(2am), where S sums up squares.
func (w *window) variance(x float64) float64 {
	m, h, l := float64(w.m), float64(w.h), float64(w.l)
	out, _ := w.out.Rat().Float64()
	at := func(i float64) float64 {
		center := float64(w.a) * i
		mean := center*center + h*(h+1)/3 // of the squares in the window
		all := l * (l + 1) * (2*l + 1) / 3
		square := (1-out)*mean + out*(all-(2*h+1)*mean)/(2*float64(w.a)*m)
		return square*w.unit*w.unit - i*i/m/m
	}
	low := math.Floor(x * m)
	up := x*m - low
	if up == 0 {
		return at(low)
	}
	return (1-up)*at(low) + up*at(low+1) + up*(1-up)/m/m
}
