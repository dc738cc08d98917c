package glm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

func cube(r *rand.Rand, k int, sens, eps float64) []float64 {
	m := 0.0
	for range k + 1 {
		m += r.ExpFloat64()
	}
	m *= sens / eps
	out := make([]float64, k)
	for i := range out {
		out[i] = m * (2*r.Float64() - 1)
	}
	return out
}
func cubeSD(k int, sens, eps float64) float64 {
	return sens / eps * math.Sqrt(float64((k+1)*(k+2))/3)
}

type shares struct{ g0, h0, g1, h1 float64 }

func (w world) newton(r *rand.Rand, n, eps, moves float64, sh shares, trials int) string {
	d := len(w.theta)
	T := d * (d + 1) / 2
	e1, e2, sd2, se, half := 0.0, 0.0, 0.0, 0.0, 0.0
	cover, told := 0, 0
	for range trials {
		xs, ys := w.sample(r, int(n))
		nt := Newton{Rows: n, Intercept: 0, Radius: 10}
		at := func(theta []float64, g, h, steep float64) Sums {
			gr, he, _ := w.sums(xs, ys, theta)
			s := Sums{Theta: theta, Gradient: gr, GradSD: cubeSD(d, steep*moves, eps*g)}
			for i, z := range cube(r, d, steep*moves, eps*g) {
				gr[i] += z
			}
			if h > 0 {
				for i, z := range cube(r, T, .25*moves, eps*h) {
					he[i] += z
				}
				s.Hessian, s.HessSD = he, cubeSD(T, .25*moves, eps*h)
			}
			return s
		}
		s0 := at(make([]float64, d), sh.g0, sh.h0, .5)
		t1 := nt.First(s0)
		s1 := at(t1, sh.g1, sh.h1, 1)
		f := nt.Infer(s0, s1)
		for i := 1; i < d; i++ {
			a := make([]float64, d)
			a[i] = 1
			e := f.Estimate(a, .95)
			e1 += square(t1[i] - w.theta[i])
			e2 += square(f.Theta[i] - w.theta[i])
			sd2 += math.Abs(f.Theta[i] - w.theta[i])
			if e.Low <= w.theta[i] && w.theta[i] <= e.High {
				cover++
			}
			if !math.IsInf(e.High, 0) {
				told++
				se += e.StdErr
				half += (e.High - e.Low) / 2
			}
		}
	}
	m := float64(trials * (d - 1))
	return fmt.Sprintf("start %.3f final rms %.3f mae %.3f; cover %.3f told %.3f half %.3f se %.3f", math.Sqrt(e1/m), math.Sqrt(e2/m), sd2/m, float64(cover)/m, float64(told)/m, half/float64(told), se/float64(told))
}

func TestNewtonSim(t *testing.T) {
	spec := os.Getenv("SIM")
	if spec == "" {
		t.Skip()
	}
	all := map[string]world{
		"uniform5": {Logistic, []float64{.5, 1, -1, .5, 0, .7}, uniform, 0},
		"uniform2": {Logistic, []float64{.5, 1, -1}, uniform, 0},
		"mixed":    {Logistic, []float64{-1, 2, -1, 0.5, 0, 0.7}, mixed, 0},
		"large":    {Logistic, []float64{-2, 3, -2, 1.5, -1.5, 2}, mixed, 0},
	}
	trials, _ := strconv.Atoi(os.Getenv("TRIALS"))
	for _, s := range strings.Split(spec, " ") {
		var v []float64
		for _, x := range strings.Split(s, ",") {
			f, _ := strconv.ParseFloat(x, 64)
			v = append(v, f)
		}
		for _, name := range []string{"uniform2", "uniform5", "mixed", "large"} {
			for _, ne := range [][2]float64{{1000, 2}, {5000, 1}, {20000, .2}, {20000, 1}} {
				if v[4] > 0 && ne[0] > 5000 {
					continue
				}
				for _, moves := range []float64{1, 2} {
					fmt.Println(s, name, ne, moves, all[name].newton(rand.New(rand.NewPCG(1, 2)), ne[0], ne[1], moves, shares{v[0], v[1], v[2], v[3]}, trials))
				}
			}
		}
	}
}
