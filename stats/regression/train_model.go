package regression

import (
	"fmt"
	"math"

	"dither/curator"
)

// describe enters the names of the predictors in the model, and the coefficients of models that have them.
func (g *gradients) describe(out *Trained) {
	var raw []float64
	if g.Kind == curator.LogisticModel || g.Kind == curator.PoissonModel || g.Kind == curator.LinearModel {
		raw = g.design.Raw(out.Theta)
	}
	for i, c := range g.design.Columns {
		out.Columns = append(out.Columns, c.Name)
		if raw != nil {
			out.Coefficients = append(out.Coefficients,
				GLMCoefficient{Name: c.Name, Width: c.Width, Estimate: glmNumber(raw[i])})
		}
	}
	if d := len(g.design.Columns); g.Kind == curator.SoftmaxModel && len(out.Theta) == d*out.Classes {
		for class := 1; class < out.Classes; class++ {
			out.Coefficients = append(out.Coefficients, g.against(out, class, d)...)
		}
	}
}

// against returns the coefficients of a class minus those of the first class. They are the coefficients of the
// logarithm of the class's odds against the first [McFadden 1974].
func (g *gradients) against(out *Trained, class, d int) (all []GLMCoefficient) {
	name := fmt.Sprint(class)
	if class < len(out.Levels) {
		name = out.Levels[class]
	}
	scaled := make([]float64, d)
	for i := range scaled {
		scaled[i] = out.Theta[class*d+i] - out.Theta[i]
	}
	for i, x := range g.design.Raw(scaled) {
		c := g.design.Columns[i]
		all = append(all, GLMCoefficient{Class: name, Name: c.Name, Width: c.Width, Estimate: glmNumber(x)})
	}
	return all
}

// Outputs returns the model's predictions for a row of scaled predictors, in the order of Columns: the mean
// response, or the probability of each class. It returns nil if the row has the wrong length or Theta does not fit
// the model.
func (t *Trained) Outputs(x []float64) []float64 {
	if len(x) != len(t.Columns) || len(t.Theta) != t.parameters() {
		return nil
	}
	linear := func(at int) (z float64) {
		for i, v := range x {
			z += t.Theta[at+i] * v
		}
		return z
	}
	var z []float64
	switch d := len(x); t.Model {
	case curator.LinearModel:
		return []float64{linear(0)}
	case curator.LogisticModel:
		return []float64{1 / (1 + math.Exp(-linear(0)))}
	case curator.PoissonModel:
		return []float64{math.Exp(linear(0))}
	case curator.SoftmaxModel:
		for c := range t.Classes {
			z = append(z, linear(c*d))
		}
	default:
		hidden := make([]float64, t.Hidden)
		for h := range hidden {
			hidden[h] = linear(h*(d+1)) + t.Theta[h*(d+1)+d]
			if t.Activation == "relu" {
				hidden[h] = max(hidden[h], 0)
			} else {
				hidden[h] = math.Tanh(hidden[h])
			}
		}
		for c := range t.Classes {
			row := t.Theta[t.Hidden*(d+1)+c*(t.Hidden+1):]
			out := row[t.Hidden]
			for h, v := range hidden {
				out += row[h] * v
			}
			z = append(z, out)
		}
		if t.Classes == 1 {
			return z
		}
	}
	most, sum := z[0], 0.0
	for _, v := range z {
		most = max(most, v)
	}
	for i, v := range z {
		z[i] = math.Exp(v - most)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
	return z
}

// parameters returns the number of parameters of the model.
func (t *Trained) parameters() int {
	switch d := len(t.Columns); t.Model {
	case curator.LinearModel, curator.LogisticModel, curator.PoissonModel:
		return d
	case curator.SoftmaxModel:
		return t.Classes * d
	default:
		return t.Hidden*(d+1) + t.Classes*(t.Hidden+1)
	}
}
