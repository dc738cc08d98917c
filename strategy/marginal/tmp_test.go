package marginal_test

import (
	"os"
	"runtime/pprof"
	"testing"
	"time"

	"dither/curator"
	"dither/strategy"
	"dither/strategy/marginal"
)

func TestTmp(t *testing.T) {
	s, _ := adultHome(t)
	d := must(marginal.NewDomain(adultColumns...))(t)
	var ms []marginal.Marginal
	if os.Getenv("BIG") != "" {
		ms = []marginal.Marginal{{Attributes: []string{"fnlwgt", "gain", "loss"}}}
	} else {
		ms = []marginal.Marginal{{Attributes: []string{"age", "workclass", "education", "country", "sex"}}, {Attributes: []string{"occupation", "gain", "relationship", "sex"}}}
	}
	p := must(d.Marginals(ms...))(t).Sum(strategy.Rho)
	r := curator.Request{SQL: adultQuestion(), Rho: "0.01"}
	f, _ := os.Create("/tmp/tmp.prof")
	pprof.StartCPUProfile(f)
	start := time.Now()
	e := must(p.Measure(t.Context(), s, r))(t)
	t.Logf("%.2f s, %d releases", time.Since(start).Seconds(), len(e.Releases))
	start = time.Now()
	must(e.Marginal(ms[0].Attributes...))(t)
	t.Logf("%.2f s", time.Since(start).Seconds())
	pprof.StopCPUProfile()
}
