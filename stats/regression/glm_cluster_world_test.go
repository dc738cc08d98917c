package regression

import (
	"math"

	"dither/internal/glm"
	"dither/internal/splitmix"

	"gonum.org/v1/gonum/mat"
)

// eventWorld is a simulation of persons with 1 to most rows, or with skewed of one in ten with most rows, and others with
// one. In each row the response is 0 or 1, with the probability of a logistic model, or a count of a Poisson model. The
// rows of a person share all predictors, or with varying all but the last. They share 0.8 of the variance of the normal
// variable of which the response is a quantile.
type eventWorld struct {
	family           glm.Family
	persons, most, p int
	price            float64 // ε or ρ, with the quarter for the scores
	method           string
	rho              bool
	rows             rowsOfPersons
}

// rowsOfPersons says how the rows of persons differ.
type rowsOfPersons string

const (
	shared  rowsOfPersons = "shared predictors"
	varying rowsOfPersons = "varying predictors"
	skewed  rowsOfPersons = "skewed numbers of rows"
)

// highestCount clamps the counts of a Poisson model, in less than one of a million rows.
const highestCount = 12

// eventRow is a row of a person.
type eventRow struct {
	z []float64
	v float64
}

// theta are the coefficients of the population.
func (w eventWorld) theta() (out []float64) {
	if w.family == glm.Poisson {
		return []float64{-0.5, 0.5, -0.3, 0.2, 0.1}[:w.p]
	}
	return []float64{-0.5, 1, -0.7, 0.5, 0.3}[:w.p]
}

// mean returns the mean of a response, and its derivative by the linear predictor.
func (w eventWorld) mean(at float64) (mu, slope float64) {
	if w.family == glm.Poisson {
		return math.Exp(at), math.Exp(at)
	}
	mu = 1 / (1 + math.Exp(-at))
	return mu, mu * (1 - mu)
}

// quantile returns the response of the given mean at the level u.
func (w eventWorld) quantile(mu, u float64) (y float64) {
	if w.family == glm.Logistic {
		if u < mu {
			return 1
		}
		return 0
	}
	for p, below := math.Exp(-mu), 0.0; y < highestCount; y++ {
		if below += p; u < below {
			break
		}
		p *= mu / (y + 1)
	}
	return y
}

// draw makes up the persons.
func (w eventWorld) draw(words *splitmix.Stream) (people [][]eventRow, rows float64) {
	return w.drawSizes(words, func(person int) int {
		many := 1 + words.Below(w.most)
		if w.rows == skewed {
			many = map[bool]int{true: w.most, false: 1}[person%10 == 0]
		}
		return many
	})
}

// drawSizes makes up clusters of so many rows.
func (w eventWorld) drawSizes(words *splitmix.Stream, size func(cluster int) int) (people [][]eventRow, rows float64) {
	normal := func() float64 { return standardNoise(words, false) }
	uniform := func() float64 { return (float64(words.Below(1<<30)) + 0.5) / (1 << 30) }
	theta := w.theta()
	for i := range w.persons {
		z, common := make([]float64, w.p), math.Sqrt(0.8)*normal()
		for j := range z {
			if z[j] = 2*uniform() - 1; j == 0 {
				z[j] = 1
			}
		}
		var person []eventRow
		for range size(i) {
			z := append([]float64(nil), z...)
			if w.rows == varying {
				z[w.p-1] = 2*uniform() - 1
			}
			at := 0.0
			for j, x := range z {
				at += theta[j] * x
			}
			mu, _ := w.mean(at)
			u := math.Erfc(-(common+math.Sqrt(0.2)*normal())/math.Sqrt2) / 2
			person = append(person, eventRow{z, w.quantile(mu, u)})
			rows++
		}
		people = append(people, person)
	}
	return people, rows
}

// eventSums are the gradient of the rows' losses, the lower triangles of the Hessian and of the sum of products of the
// rows' gradients, and each person's gradient.
type eventSums struct {
	gradient, hessian, products []float64
	each                        [][]float64
}

func (w eventWorld) sums(people [][]eventRow, theta []float64) (out eventSums) {
	half := w.p * (w.p + 1) / 2
	out = eventSums{gradient: make([]float64, w.p), hessian: make([]float64, half), products: make([]float64, half)}
	for _, person := range people {
		g := make([]float64, w.p)
		for _, r := range person {
			at := 0.0
			for j, x := range r.z {
				at += theta[j] * x
			}
			k := 0
			mu, slope := w.mean(at)
			off := mu - r.v
			for i, x := range r.z {
				g[i] += off * x
				for _, y := range r.z[:i+1] {
					out.hessian[k] += slope * x * y
					out.products[k] += off * off * x * y
					k++
				}
			}
		}
		for i, x := range g {
			out.gradient[i] += x
		}
		out.each = append(out.each, g)
	}
	return out
}

// noisy adds the noise of mechanism.Cube in the continuous limit, or with rho Gaussian noise, to numbers.
func (w eventWorld) noisy(words *splitmix.Stream, x []float64, sd float64) []float64 {
	side, k := 0.0, float64(len(x))
	uniform := func() float64 { return (float64(words.Below(1<<30)) + 0.5) / (1 << 30) }
	for range len(x) + 1 {
		side -= math.Log(uniform())
	}
	side *= sd / math.Sqrt((k+1)*(k+2)/3)
	out := make([]float64, len(x))
	for i := range x {
		if out[i] = x[i] + side*(2*uniform()-1); w.rho {
			out[i] = x[i] + sd*standardNoise(words, false)
		}
	}
	return out
}

// fit simulates a fit for three quarters of the price.
func (w eventWorld) fit(words *splitmix.Stream, people [][]eventRow, rows float64) *glm.Fit {
	m := float64(w.most)
	t := glm.Terms{
		Family: w.family, Predictors: w.p, Rows: rows, Bound: math.Sqrt(float64(w.p)), Steep: 1, Bend: 0.25,
		Moves: m, Unit: m, Epsilon: 0.75 * w.price, Drift: m * 10 / (2 * rows),
	}
	if w.rho {
		t.Epsilon, t.Rho = 0, 0.75*w.price
	}
	if w.family == glm.Poisson {
		t.Bend, t.Steep = highestCount, highestCount
	}
	if w.method == MethodMinimize {
		return w.minimum(words, t, people)
	}
	n := glm.Newton{Rows: rows, Intercept: 0, Radius: 10, Laplace: !w.rho}
	if w.method == MethodNewton {
		var all []glm.Sums
		shares := t.Steps()
		for i, share := range shares.Gradient {
			s, steep := glm.Sums{Theta: make([]float64, w.p)}, 0.5
			if i > 0 {
				s.Theta, steep = n.Next(all), 1
			}
			of := w.sums(people, s.Theta)
			s.GradSD = t.GradSD(float64(share)/100, steep)
			s.Gradient = w.noisy(words, of.gradient, s.GradSD)
			if h := shares.Hessian[i]; h > 0 {
				s.HessSD = t.HessSD(float64(h) / 100)
				s.Hessian = w.noisy(words, of.hessian, s.HessSD)
			}
			all = append(all, s)
		}
		return n.Infer(all)
	}
	choice, p := t.Inside(2*rows), float64(w.p)
	whole := t.Epsilon * (1 - choice.Share)
	inner := whole*63/64 - m*math.Log1p(p/(4*choice.Regularise)) - p*math.Log1p(m/(2*rows))
	sd := (m + choice.Regularise*t.Drift) * math.Sqrt((p+1)*(p+2)/3) / inner
	theta := w.tilted(people, choice.Regularise, w.noisy(words, make([]float64, w.p), sd))
	hessian := w.sums(people, theta).hessian
	hessSD := t.HessSD(choice.Share)
	return n.Inside(glm.Perturbed{
		Theta: theta, Hessian: w.noisy(words, hessian, hessSD), Regularise: choice.Regularise, Bound: t.Bound, SD: sd,
		HessSD: hessSD,
	})
}

// minimum simulates a minimum with noise on it, under ρ.
func (w eventWorld) minimum(words *splitmix.Stream, t glm.Terms, people [][]eventRow) *glm.Fit {
	choice := t.Choose()
	noise := func(share, most float64) float64 { return most / math.Sqrt(2*t.Rho*share) }
	r := glm.Released{
		Family: w.family, Regularise: choice.Regularise, Radius: 10, Rows: t.Rows, Intercept: 0,
		ThetaSD: noise(1-choice.Share, t.Moves*t.Steep*t.Bound/choice.Regularise+t.Drift),
		HessSD:  noise(choice.Share/2, t.Moves*t.Bend*t.Bound*t.Bound),
		ProdSD:  noise(choice.Share/2, t.Moves*t.Steep*t.Steep*t.Bound*t.Bound),
	}
	r.Theta = w.noisy(words, w.tilted(people, choice.Regularise, make([]float64, w.p)), r.ThetaSD)
	of := w.sums(people, r.Theta)
	r.Hessian, r.Products = w.noisy(words, of.hessian, r.HessSD), w.noisy(words, of.products, r.ProdSD)
	return glm.Infer(r)
}

// tilted is the minimum of the risk with a ridge penalty and the linear term b.
func (w eventWorld) tilted(people [][]eventRow, ridge float64, b []float64) []float64 {
	theta := make([]float64, w.p)
	for range 60 {
		of := w.sums(people, theta)
		g, h := of.gradient, of.hessian
		m, k := mat.NewSymDense(w.p, nil), 0
		for i := range w.p {
			g[i] += ridge*theta[i] + b[i]
			for j := range i + 1 {
				m.SetSym(i, j, h[k])
				k++
			}
			m.SetSym(i, i, m.At(i, i)+ridge)
		}
		var step mat.VecDense
		if err := step.SolveVec(m, mat.NewVecDense(w.p, g)); err != nil {
			panic(err)
		}
		l := math.Max(1, mat.Norm(&step, 2))
		for i := range theta {
			theta[i] -= step.AtVec(i) / l
		}
		if mat.Norm(&step, 2) < 1e-9 {
			break
		}
	}
	return theta
}
