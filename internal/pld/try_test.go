package pld

import (
	"fmt"
	"math/big"
	"testing"
	"time"
)

func rr(s string) *big.Rat { r, _ := new(big.Rat).SetString(s); return r }
func must(p Pair, err error) Pair {
	if err != nil {
		panic(err)
	}
	return p
}

func TestTry(t *testing.T) {
	show := func(name string, delta float64, steps ...Step) {
		t0 := time.Now()
		c, err := Compose(steps)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := c.Epsilon(delta)
		fmt.Printf("%-20s eps [%.12g, %.12g] rel %.2g  %v\n", name, lo, hi, (hi-lo)/hi, time.Since(t0))
	}
	showd := func(name string, eps float64, steps ...Step) {
		t0 := time.Now()
		c, _ := Compose(steps)
		lo, hi := c.Delta(eps)
		fmt.Printf("%-20s delta [%.12g, %.12g] rel %.2g  %v\n", name, lo, hi, (hi-lo)/hi, time.Since(t0))
	}
	showd("3g sqrt3 .12693673750664395", 1, Step{must(Gaussian(rr("1/3"))), 3})
	show("sigma .02", 1e-6, Step{must(Gaussian(rr("2500"))), 1})
	show("100 pure .1 4.774567588108", 1e-6, Step{must(Pure(rr("0.1"))), 100})
	show("10 pure .1 .99369117675934", 1e-5, Step{must(Pure(rr("0.1"))), 10})
	showd("30x1 .020276245549846", 22, Step{must(Pure(rr("1"))), 30})
	mn := must(Subsample(must(Gaussian(rr("100/121"))), rr("256/60000")))
	show("mnist 2.381686", 1e-5, Step{mn, 14062})
	show("laplace", 1e-6, Step{must(Laplace(rr("1/10"))), 100})
	show("dlaplace", 1e-6, Step{must(DiscreteLaplace(3, rr("30"))), 100})
	showd("dgauss", 1, Step{must(DiscreteGaussian(rr("1"))), 1})
}
