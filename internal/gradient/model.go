// Package gradient contains the models that noisy gradients train. Each is a pure function from parameters and a
// row to the gradient of the row's loss. The package knows nothing of privacy: the caller bounds the gradient,
// whatever its value.
package gradient

import (
	"errors"
	"fmt"
	"math"
)

// Kind is a family of models.
type Kind string

// The kinds of models, with the loss of a row. Parameters are matrices, row by row. Softmax has one row of Features
// weights for each class. Network has two layers. The first has Hidden rows, each of Features weights and an
// offset. The second has one row for each output, of Hidden weights and an offset.
const (
	Linear   Kind = "linear"   // (θ·x − y)²/2
	Logistic Kind = "logistic" // ln(1 + e^(θ·x)) − y·θ·x, y clamped to [0, 1]
	Poisson  Kind = "poisson"  // e^(θ·x) − y·θ·x
	Softmax  Kind = "softmax"  // −ln of the probability of class y; y is rounded and clamped to 0 … Classes − 1
	Network  Kind = "network"  // one hidden layer; Softmax's loss of the outputs, or Linear's if there is one output
)

// Model is a model to train. The zero value is not valid.
type Model struct {
	Kind       Kind
	Features   int
	Classes    int    // for Softmax and Network; 1 makes a Network a regression
	Hidden     int    // the number of hidden units, for Network
	Activation string // the activation of the hidden units: "tanh" (also for ""), or "relu"
}

// MaxParameters is the largest number of parameters of a model.
const MaxParameters = 1 << 20

// ErrModel reports an invalid model.
var ErrModel = errors.New("invalid model")

// Check returns ErrModel if the model is invalid.
func (m Model) Check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrModel, fmt.Sprintf(format, args...))
	}
	least, classes, hidden := 0, m.Kind == Softmax || m.Kind == Network, m.Kind == Network
	if classes {
		least = map[Kind]int{Softmax: 2, Network: 1}[m.Kind]
	}
	switch {
	case m.Kind != Linear && m.Kind != Logistic && m.Kind != Poisson && !classes:
		return wrong("a model must be linear, logistic, poisson, softmax or network, not %q", m.Kind)
	case m.Features < 1 || m.Features > MaxParameters:
		return wrong("the number of features must be from 1 to %d, not %d", MaxParameters, m.Features)
	case classes && (m.Classes < least || m.Classes > MaxParameters) || !classes && m.Classes != 0:
		return wrong("a softmax model needs at least 2 classes, a network at least 1, and other models none, not %d",
			m.Classes)
	case hidden && (m.Hidden < 1 || m.Hidden > MaxParameters) || !hidden && m.Hidden != 0:
		return wrong("a network needs at least 1 hidden unit, and other models none, not %d", m.Hidden)
	case m.Activation != "" && (!hidden || m.Activation != "tanh" && m.Activation != "relu"):
		return wrong("only a network has an activation, which must be tanh or relu")
	case m.Parameters() > MaxParameters:
		return wrong("a model must have at most %d parameters, not %d", MaxParameters, m.Parameters())
	}
	return nil
}

// Parameters returns the number of parameters.
func (m Model) Parameters() int {
	switch m.Kind {
	case Softmax:
		return m.Classes * m.Features
	case Network:
		return m.Hidden*(m.Features+1) + m.Classes*(m.Hidden+1)
	}
	return m.Features
}

// Scratch is working memory for Add. Each goroutine needs its own.
type Scratch struct{ hidden, outputs, back []float64 }

// NewScratch returns working memory for the model.
func (m Model) NewScratch() *Scratch {
	return &Scratch{
		hidden:  make([]float64, m.Hidden),
		outputs: make([]float64, m.Classes),
		back:    make([]float64, m.Hidden),
	}
}

// Add adds the gradient of a row's loss at θ to g. The model must be valid. θ and g must have Parameters() entries,
// and x must have Features entries. If numbers overflow, g may contain infinities and NaN.
func (m Model) Add(theta, x []float64, y float64, g []float64, s *Scratch) {
	switch m.Kind {
	case Softmax:
		for c := range s.outputs {
			s.outputs[c] = dot(theta[c*m.Features:], x)
		}
		slopes(s.outputs, y)
		for c, slope := range s.outputs {
			add(g[c*m.Features:], slope, x)
		}
	case Network:
		m.propagate(theta, x, y, g, s)
	default:
		z := dot(theta, x)
		switch m.Kind {
		case Logistic:
			z = 1 / (1 + math.Exp(-z))
			y = min(max(y, 0), 1)
		case Poisson:
			z = math.Exp(z)
		}
		add(g, z-y, x)
	}
}

// propagate is Add for a Network.
func (m Model) propagate(theta, x []float64, y float64, g []float64, s *Scratch) {
	width := m.Features + 1
	second := m.Hidden * width
	for h := range s.hidden {
		row := theta[h*width:]
		s.hidden[h] = m.active(dot(row, x) + row[m.Features])
	}
	for c := range s.outputs {
		row := theta[second+c*(m.Hidden+1):]
		s.outputs[c] = dot(row, s.hidden) + row[m.Hidden]
	}
	if m.Classes == 1 {
		s.outputs[0] -= y
	} else {
		slopes(s.outputs, y)
	}
	clear(s.back)
	for c, slope := range s.outputs {
		at := second + c*(m.Hidden+1)
		add(g[at:], slope, s.hidden)
		g[at+m.Hidden] += slope
		add(s.back, slope, theta[at:at+m.Hidden])
	}
	for h, back := range s.back {
		back *= m.bend(s.hidden[h])
		add(g[h*width:], back, x)
		g[h*width+m.Features] += back
	}
}

func (m Model) active(z float64) float64 {
	if m.Activation == "relu" {
		return max(z, 0)
	}
	return math.Tanh(z)
}

// bend returns the activation's derivative, given its value a. For relu at 0 it is 0.
func (m Model) bend(a float64) float64 {
	switch {
	case m.Activation != "relu":
		return 1 - a*a
	case a > 0:
		return 1
	}
	return 0
}

// slopes replaces the outputs z by the derivatives of −ln softmax_y(z).
func slopes(z []float64, y float64) {
	most := math.Inf(-1)
	for _, v := range z {
		most = max(most, v)
	}
	sum := 0.0
	for i, v := range z {
		z[i] = math.Exp(v - most)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
	z[Class(y, len(z))]--
}

// Class returns the class of a response y: the nearest integer in 0 … classes − 1. For NaN it is 0.
func Class(y float64, classes int) int {
	if !(y > 0) {
		return 0
	}
	return int(math.RoundToEven(min(y, float64(classes-1))))
}

// Loss returns a row's loss at θ. It is for tests, and for public rows.
func (m Model) Loss(theta, x []float64, y float64) float64 {
	s := m.NewScratch()
	switch m.Kind {
	case Linear:
		r := dot(theta, x) - y
		return r * r / 2
	case Logistic:
		z := dot(theta, x)
		return math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - min(max(y, 0), 1)*z
	case Poisson:
		z := dot(theta, x)
		return math.Exp(z) - y*z
	case Softmax:
		for c := range s.outputs {
			s.outputs[c] = dot(theta[c*m.Features:], x)
		}
	case Network:
		width := m.Features + 1
		for h := range s.hidden {
			row := theta[h*width:]
			s.hidden[h] = m.active(dot(row, x) + row[m.Features])
		}
		for c := range s.outputs {
			row := theta[m.Hidden*width+c*(m.Hidden+1):]
			s.outputs[c] = dot(row, s.hidden) + row[m.Hidden]
		}
		if m.Classes == 1 {
			return (s.outputs[0] - y) * (s.outputs[0] - y) / 2
		}
	}
	most, sum := math.Inf(-1), 0.0
	for _, v := range s.outputs {
		most = max(most, v)
	}
	for _, v := range s.outputs {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum) - s.outputs[Class(y, m.Classes)]
}

// dot returns the inner product of x and the first len(x) entries of a.
func dot(a, x []float64) float64 {
	a = a[:len(x)]
	z := 0.0
	for i, v := range x {
		z += a[i] * v
	}
	return z
}

// add adds f·x to the first len(x) entries of g.
func add(g []float64, f float64, x []float64) {
	g = g[:len(x)]
	for i, v := range x {
		g[i] += f * v
	}
}
