package glm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
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

func (w world) newton(r *rand.Rand, tm Terms, sh Steps, trials int) string {
	d := len(w.theta)
	T := d * (d + 1) / 2
	n := tm.Rows
	e1, e2, sd2, se, half := 0.0, 0.0, 0.0, 0.0, 0.0
	cover, told := 0, 0
	worst := make([]int, d)
	for range trials {
		xs, ys := w.sample(r, int(n))
		nt := Newton{Rows: n, Intercept: 0, Radius: 10}
		draw := func(k int, sd float64) []float64 {
			if tm.Rho > 0 {
				out := make([]float64, k)
				for i := range out {
					out[i] = r.NormFloat64() * sd
				}
				return out
			}
			return cube(r, k, sd/cubeSD(k, 1, 1), 1)
		}
		at := func(theta []float64, g, h, steep float64) Sums {
			gr, he, _ := w.sums(xs, ys, theta)
			s := Sums{Theta: theta, Gradient: gr, GradSD: tm.GradSD(g, steep)}
			for i, z := range draw(d, s.GradSD) {
				gr[i] += z
			}
			if h > 0 {
				s.Hessian, s.HessSD = he, tm.HessSD(h)
				for i, z := range draw(T, s.HessSD) {
					he[i] += z
				}
			}
			return s
		}
		t1 := make([]float64, d)
		var all []Sums
		for i, g := range sh.Gradient {
			steep := 1.0
			if i == 0 {
				steep = .5
			}
			all = append(all, at(t1, float64(g)/100, float64(sh.Hessian[i])/100, steep))
			if i+1 < len(sh.Gradient) {
				t1 = nt.Next(all)
			}
		}
		f := nt.Infer(all)
		for i := 0; i < d; i++ {
			a := make([]float64, d)
			a[i] = 1
			e := f.Estimate(a, .95)
			e1 += square(t1[i] - w.theta[i])
			e2 += square(f.Theta[i] - w.theta[i])
			sd2 += math.Abs(f.Theta[i] - w.theta[i])
			if e.Low <= w.theta[i] && w.theta[i] <= e.High {
				cover++
			} else {
				worst[i]++
			}
			if !math.IsInf(e.High, 0) {
				told++
				se += e.StdErr
				half += (e.High - e.Low) / 2
			}
		}
	}
	m := float64(trials * d)
	return fmt.Sprintf("exp %.3f start %.3f final rms %.3f mae %.3f; cover %.3f worst %.3f told %.3f half %.3f se %.3f", sh.Expected, math.Sqrt(e1/m), math.Sqrt(e2/m), sd2/m, float64(cover)/m, 1-float64(slices.Max(worst))/float64(trials), float64(told)/m, half/float64(told), se/float64(told))
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
		"rare":     {Logistic, []float64{-3.5, 1.3, -1, 0.5, 0, 0.7}, mixed, 0},
		"large":    {Logistic, []float64{-2, 3, -2, 1.5, -1.5, 2}, mixed, 0},
	}
	trials, _ := strconv.Atoi(os.Getenv("TRIALS"))
	for _, name := range strings.Split(spec, " ") {
		for _, ne := range [][3]float64{{200, 1, 0}, {1000, 2, 0}, {5000, 1, 0}, {20000, .2, 0}, {1000, 0, .5}, {5000, 0, .02}, {20000, 1, 0}} {
			for _, moves := range []float64{1, 2} {
				w := all[name]
				tm := Terms{Family: Logistic, Predictors: len(w.theta), Rows: ne[0], Bound: math.Sqrt(float64(len(w.theta))), Steep: 1, Bend: .25, Moves: moves, Epsilon: ne[1], Rho: ne[2]}
				sh := tm.Steps()
				fmt.Printf("%s %v %v %v %v minimise %.3f ", name, ne, moves, sh.Gradient, sh.Hessian, tm.Choose().Expected)
				fmt.Println(w.newton(rand.New(rand.NewPCG(1, 2)), tm, sh, trials))
			}
		}
	}
}
