// Package gradient holds the models that are trained by noisy gradients, as pure functions from parameters and a row to
// the gradient of the row's loss. It knows nothing of privacy: the caller bounds a gradient, whatever its value.
package gradient

import (
	"errors"
	"fmt"
	"math"
)

// Kind is a family of models.
type Kind string

// The kinds. Parameters are matrices by row: of Softmax one row of features for each class; of Network the first layer, Hidden rows of features and
// an offset, and then the second, one row of hidden units and an offset for each output.
const (
	Linear   Kind = "linear"   // (θ·x − y)²/2
	Logistic Kind = "logistic" // ln(1 + e^(θ·x)) − y·θ·x, y clamped to [0, 1]
	Poisson  Kind = "poisson"  // e^(θ·x) − y·θ·x
	Softmax  Kind = "softmax"  // −ln of the probability of class y, from 0 to Classes − 1; beyond them the nearest
	Network  Kind = "network"  // one hidden layer, and Softmax's loss of its outputs; with one output Linear's
)

// Model is one model. The zero value is none.
type Model struct {
	Kind       Kind
	Features   int
	Classes    int    // of Softmax and Network; 1 makes a Network a regression
	Hidden     int    // units of Network
	Activation string // of them: "tanh", which is "" too, or "relu"
}

// MaxParameters bounds a model.
const MaxParameters = 1 << 20

// ErrModel reports an invalid model.
var ErrModel = errors.New("no such model")

// Check returns ErrModel for an invalid model.
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
		return wrong("a model is linear, logistic, poisson, softmax or network, not %q", m.Kind)
	case m.Features < 1 || m.Features > MaxParameters:
		return wrong("a model has features")
	case classes && (m.Classes < least || m.Classes > MaxParameters) || !classes && m.Classes != 0:
		return wrong("a model of kind %s has %d classes at least, or none", m.Kind, least)
	case hidden && (m.Hidden < 1 || m.Hidden > MaxParameters) || !hidden && m.Hidden != 0:
		return wrong("a network has hidden units, and nothing else has")
	case m.Activation != "" && (!hidden || m.Activation != "tanh" && m.Activation != "relu"):
		return wrong("a network's activation is tanh or relu")
	case m.Parameters() > MaxParameters:
		return wrong("a model has at most %d parameters", MaxParameters)
	}
	return nil
}

// Parameters is how many there are.
func (m Model) Parameters() int {
	switch m.Kind {
	case Softmax:
		return m.Classes * m.Features
	case Network:
		return m.Hidden*(m.Features+1) + m.Classes*(m.Hidden+1)
	}
	return m.Features
}

// Scratch is what an Add works with; each goroutine has its own.
type Scratch struct{ hidden, outputs, back []float64 }

// NewScratch makes one for a model.
func (m Model) NewScratch() *Scratch {
	return &Scratch{
		hidden:  make([]float64, m.Hidden),
		outputs: make([]float64, m.Classes),
		back:    make([]float64, m.Hidden),
	}
}

// Add adds the gradient of a row's loss at θ to g. The model must be valid; θ and g have its number of parameters,
// and x its number of features. If numbers overflow, so does the gradient: it may hold infinities and NaN.
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

// propagate is Add for a network.
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

// bend is the activation's derivative, given its value a; for relu at 0 it is 0.
func (m Model) bend(a float64) float64 {
	switch {
	case m.Activation != "relu":
		return 1 - a*a
	case a > 0:
		return 1
	}
	return 0
}

// slopes makes the derivatives of −ln softmax_y of outputs.
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

// Class is the class of a response: the nearest of 0 to classes − 1; NaN is 0.
func Class(y float64, classes int) int {
	if !(y > 0) {
		return 0
	}
	return int(math.RoundToEven(min(y, float64(classes-1))))
}

// Loss is a row's loss at θ: for tests, and for rows that are public.
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

// dot is of as many numbers as x has.
func dot(a, x []float64) float64 {
	a = a[:len(x)]
	z := 0.0
	for i, v := range x {
		z += a[i] * v
	}
	return z
}

// add adds f·x to as many numbers of g.
func add(g []float64, f float64, x []float64) {
	g = g[:len(x)]
	for i, v := range x {
		g[i] += f * v
	}
}
