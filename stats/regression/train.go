package regression

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// Optimisers of [Gradients]. Both use only noisy gradients.
const (
	Adam = "adam" // [Kingma & Ba 2015]
	SGD  = "sgd"
)

// Gradients asks for a model of one of curator's kinds, trained with noisy gradients [Abadi et al. 2016]. The
// response is a number, or the number of a class, counting from 0. All parameters are public and fixed in advance.
// Decimals are texts. "" or 0 selects a default, which depends only on public terms.
type Gradients struct {
	curator.Request        // the price at Delta, and the analyst; the SQL is generated from the other fields
	Delta           string // δ of the price; "" uses the policy's default
	Table, Formula  string
	Where           string
	// Classes are the classes of the response. A softmax model and a network permit more than two. The zero value
	// takes them from the policy.
	formula.Classes
	Kind       string // kind of model; "" means curator.NetworkModel
	Hidden     int    // hidden neurons of a network; 0 means 16
	Activation string
	Bound      string // bound on the L₂ norm of the scaled predictors; "" uses the norm from the declared bounds
	Clip       string // bound on the norm of a unit's gradient; "" means 1
	Rate       string // sampling rate of units; "" gives about 256 units a step
	Multiplier string // noise multiplier; "" uses the least one for which all steps cost the price
	Steps      int64  // number of steps; 0 means 500
	Rows       int64  // approximate number of units; 0 uses the number that the policy declares
	Optimiser  string // Adam or SGD; "" means Adam
	Learning   string // learning rate; "" means 0.05 for Adam and 1 for SGD
}

// Trained is a trained model. Its predictions for any predictors are post-processing, and so free.
type Trained struct {
	ID string `json:"id"`
	Spec
	Columns    []string `json:"columns"` // names of the scaled predictors
	Classes    int      `json:"classes,omitempty"`
	Hidden     int      `json:"hidden,omitempty"`
	Activation string   `json:"activation,omitempty"`
	Response   string   `json:"response"` // name of the response's column
	Levels     []string `json:"levels"`   // values of the response's classes in words; nil for a numeric response
	// Theta is the mean of the parameters over the last quarter of the steps, in the order that
	// curator.TrainedModel documents.
	Theta []float64 `json:"parameters"`
	// Coefficients are the coefficients of the unscaled columns, without intervals. They are nil for a network.
	Coefficients []GLMCoefficient `json:"coefficients,omitempty"`
	Steps        int64            `json:"steps"`
	Clip         string           `json:"clip"`
	Rate         string           `json:"rate"`
	Multiplier   string           `json:"multiplier"`
	Optimiser    string           `json:"optimiser"`
	Learning     string           `json:"learning"`
	Paid                          // Replayed means that all steps had been recorded before
	design       *formula.Design
	where        string
}

// NoIntervals explains why a trained model has no intervals, and names an alternative.
func (t *Trained) NoIntervals() string {
	if t.Model == curator.NetworkModel || t.Model == curator.SoftmaxModel {
		return "there are no intervals: a network's parameters depend on its start and its last step, and noisy " +
			"gradients do not determine their distribution; compare its predictions with rows of another condition"
	}
	return "there are no intervals: clipping, and stopping before the minimum, move the coefficients by an unknown " +
		"amount; --method minimize gives intervals that cover sampling and noise"
}

// TrainingStep is the progress of a training. It does not contain the value of the loss, which would reveal the
// rows.
type TrainingStep struct {
	Step, Steps int64
	Price       curator.Loss // price of all steps, paid before the first
	Replayed    bool
}

// GradientsExplanation states what a training would cost. Obtaining it is free.
type GradientsExplanation struct {
	Spec
	SQL        string   `json:"sql"`
	Columns    []string `json:"columns"`
	Parameters int      `json:"parameters"`
	Steps      int64    `json:"steps"`
	Recorded   int64    `json:"recorded_steps"`
	Clip       string   `json:"clip"`
	Rate       string   `json:"rate"`
	Multiplier string   `json:"multiplier"`
	StdDev     float64  `json:"stddev"` // standard deviation of the noise on each coordinate of a step's mean gradient
	// Epsilon and Delta bound the loss of all steps together, certified by their privacy loss distribution. The
	// price is ρ = ε²/2, and δ. Delta is "" if it is the policy's default.
	Epsilon string `json:"epsilon"`
	Delta   string `json:"delta"`
	Quoted
	Begun    bool     `json:"begun"`
	Levels   []string `json:"levels"`
	Response string   `json:"-"`
	Expected float64  `json:"-"` // expected number of units in a sample
}

// gradients is a validated [Gradients] with its training.
type gradients struct {
	Gradients
	design   *formula.Design
	training curator.Training
	learning float64
}

// spec returns the kind of the trained model, its formula and its table.
func (g *gradients) spec() Spec { return Spec{g.Kind, g.design.Formula.String(), g.design.Table} }

// FitGradients trains a model. All steps are paid before the first, and each is recorded durably before it is used.
// A training that was interrupted continues when the same request is made again. Its recorded steps are replayed at
// no cost and lead to the same parameters. The function told, if not nil, is called after each step.
func FitGradients(
	ctx context.Context, c *curator.Session, q Gradients, told func(TrainingStep),
) (out *Trained, err error) {
	g, err := decideGradients(c, q)
	if err != nil {
		return nil, err
	}
	t, err := c.Train(ctx, g.training)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := t.Close(); err == nil && e != nil {
			out, err = nil, e
		}
	}()
	replayed := t.Recorded() == t.Steps
	theta, mean := g.start(t.Parameters), make([]float64, t.Parameters)
	from := t.Steps - max(t.Steps/4, 1)
	move := g.optimiser(t.Parameters)
	for t.Done() < t.Steps {
		step, err := t.Step(ctx, theta)
		if err != nil {
			return nil, otherSteps(err)
		}
		move(theta, step.Mean)
		for i, x := range theta {
			if math.IsNaN(x) || math.Abs(x) > 1e6 {
				return nil, request.Stopped(
					request.Misuse(
						"lower --learning and pay for another training with --fresh",
						"the training diverged at step %d of %d", step.Step, t.Steps), t.ID)
			}
			if step.Step > from {
				mean[i] += x / float64(t.Steps-from)
			}
		}
		if told != nil {
			told(TrainingStep{Step: step.Step, Steps: t.Steps, Price: t.Price, Replayed: step.Replayed})
		}
	}
	out = &Trained{
		ID: t.ID, Spec: g.spec(), Activation: g.Activation, Classes: g.training.Model.Classes, Hidden: g.Hidden,
		Theta: mean,
		Steps: t.Steps, Clip: g.Clip, Rate: g.Rate, Multiplier: t.Multiplier, Optimiser: g.Optimiser,
		Learning: g.Learning, Paid: Paid{t.Limits, t.Price, t.Remaining, replayed},
		Response: g.design.Response.Column, Levels: g.design.Response.Levels, design: g.design, where: q.Where,
	}
	g.describe(out)
	return out, nil
}

// ExplainGradients states what FitGradients would cost. It spends nothing.
func ExplainGradients(ctx context.Context, c *curator.Session, q Gradients) (*GradientsExplanation, error) {
	g, err := decideGradients(c, q)
	if err != nil {
		return nil, err
	}
	e, err := c.ExplainTrain(ctx, g.training)
	if err != nil {
		return nil, err
	}
	b, err := c.Budget()
	if err != nil {
		return nil, err
	}
	unit, _ := e.Unit.Float64()
	return &GradientsExplanation{
		Spec: g.spec(), SQL: g.training.SQL, Columns: g.design.Names(), Parameters: e.Parameters, Steps: g.Steps,
		Recorded: e.Recorded, Clip: g.Clip, Rate: g.Rate,
		Multiplier: e.Multiplier, StdDev: e.Noise.StdDev() * unit / e.Expected, Expected: e.Expected,
		Epsilon: certifiedEpsilon(e.Price), Delta: q.Delta,
		Quoted:   Quoted{e.Price, b.Remaining, e.Begun || request.Affordable(b.Remaining, e.Price), b.Largest},
		Begun:    e.Begun,
		Response: g.design.Response.Column, Levels: g.design.Response.Levels,
	}, nil
}

// certifiedEpsilon returns the ε of a price ρ = ε²/2, rounded up to seven decimals.
func certifiedEpsilon(price curator.Loss) string {
	rho, err := exact.ParseRat(price.Rho)
	if err != nil {
		return price.Epsilon
	}
	const places = 10_000_000
	square := rho.Mul(rho, big.NewRat(2*places*places, 1))
	n := exact.CeilRat(square)
	root := new(big.Int).Sqrt(n)
	if new(big.Int).Mul(root, root).Cmp(n) < 0 {
		root.Add(root, big.NewInt(1))
	}
	return exact.FormatRat(new(big.Rat).SetFrac(root, big.NewInt(places)))
}

// decideGradients validates a request and fills in its defaults.
func decideGradients(c *curator.Session, q Gradients) (*gradients, error) {
	g := &gradients{Gradients: q}
	err := request.CheckCondition(q.Where)
	if err != nil {
		return nil, err
	}
	several := q.Kind == "" || q.Kind == curator.NetworkModel || q.Kind == curator.SoftmaxModel
	if q.Given() && !several && q.Kind != curator.LogisticModel {
		return nil, request.Misuse("", "the response of a %s model is a number: it has no classes", q.Kind)
	}
	if g.design, err = classDesign(c, q.Table, q.Formula, nil, q.Classes, several); err != nil {
		return nil, err
	}
	for text, usual := range map[*string]string{
		&g.Kind: curator.NetworkModel, &g.Bound: g.design.Bound(curator.L2),
		&g.Clip: "1", &g.Optimiser: Adam,
	} {
		if *text == "" {
			*text = usual
		}
	}
	if g.Optimiser != Adam && g.Optimiser != SGD {
		return nil, request.Misuse("", "the optimiser must be %s or %s, not %q", Adam, SGD, q.Optimiser)
	}
	if g.Learning == "" {
		g.Learning = map[string]string{Adam: "0.05", SGD: "1"}[g.Optimiser]
	}
	learning, err := exact.ParseDecimal(g.Learning)
	if err != nil || learning.Sign() <= 0 {
		return nil, request.Misuse("", "the learning rate must be a decimal above 0, not %q", g.Learning)
	}
	if learning.Cmp(big.NewRat(mostLearning, 1)) > 0 {
		return nil, request.Misuse("such as 0.05", "a learning rate of %s is so large that the training "+
			"diverges", g.Learning)
	}
	g.learning, _ = learning.Float64()
	if g.Steps == 0 {
		g.Steps = 500
	}
	if g.Kind == curator.NetworkModel && g.Hidden == 0 {
		g.Hidden = 16
	}
	table, err := request.Table(c, g.design.Table)
	if err != nil {
		return nil, err
	}
	if g.Rows == 0 {
		g.Rows = table.ExpectedRows
	}
	if g.Rate == "" && g.Rows > 0 {
		g.Rate = fmt.Sprintf("%d/%d", min(256, g.Rows), g.Rows)
	}
	model := curator.TrainedModel{Kind: g.Kind, Hidden: g.Hidden, Activation: g.Activation}
	if model.Classes, err = g.classes(table); err != nil {
		return nil, err
	}
	g.training = curator.Training{
		Request:    g.Request,
		Delta:      g.Delta,
		Model:      model,
		Bound:      g.Bound,
		Clip:       g.Clip,
		Rate:       g.Rate,
		Multiplier: g.Multiplier,
		Steps:      g.Steps,
		Rows:       g.Rows,
	}
	if g.training.Rate == "" { // the kernel's refusal then asks for the number of rows
		g.training.Rate = "1"
	}
	g.training.SQL = g.design.Question(q.Where, g.design.Response.SQL)
	return g, nil
}

// mostLearning is the largest learning rate. The coefficients of scaled predictors are about 1.
const mostLearning = 10_000

// otherSteps adds a hint to the error for steps that were recorded at other parameters. The cause is an earlier
// training of the same question with another optimiser or learning rate.
func otherSteps(err error) error {
	var e *curator.Error
	if !errors.As(err, &e) || !errors.Is(e, curator.ErrOtherStep) {
		return err
	}
	told := *e
	told.Hint = "this training was paid with another --learning or --optimiser: repeat those, free, or pay for " +
		"another training with --fresh"
	return &told
}

// maxClasses is the largest number of classes. It prevents a model with a class for each integer of a response with
// wide bounds.
const maxClasses = 1000

// classes returns the number of classes of a softmax model or a network. A response with two values has two
// classes. classes returns 1 for a network on a numeric response, which makes a regression, and 0 for other kinds
// of models.
func (g *gradients) classes(t curator.Table) (int, error) {
	if g.Kind != curator.SoftmaxModel && g.Kind != curator.NetworkModel {
		return 0, nil
	}
	r := g.design.Response
	whole := r.Low.Sign() == 0 && r.High.IsInt() && r.High.Cmp(big.NewRat(maxClasses, 1)) < 0
	for _, column := range t.Columns {
		if strings.EqualFold(column.Name, g.design.Formula.Response) && column.Type == "real" && r.Levels == nil {
			whole = false
		}
	}
	switch {
	case whole:
		return int(r.High.Num().Int64()) + 1, nil
	case g.Kind == curator.NetworkModel:
		return 1, nil
	}
	return 0, request.Misuse("declare its values in the policy, or declare it as an integer with bounds from 0; or "+
		"name the classes by --levels A,B,C",
		"the classes of %s are not declared", r.Name)
}

// start returns the initial parameters of every training: 0, except for the weights of a network. A fixed hash
// makes these weights differ, so that the hidden neurons differ.
func (g *gradients) start(parameters int) []float64 {
	theta := make([]float64, parameters)
	if g.Kind != curator.NetworkModel {
		return theta
	}
	d := len(g.design.Columns)
	for i := range theta {
		inputs := d + 1
		if i >= g.Hidden*(d+1) {
			inputs = g.Hidden + 1
		}
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(i))
		h := sha256.Sum256(b[:])
		u := float64(binary.BigEndian.Uint64(h[:8])>>11)*0x1p-52 - 1 // in [−1, 1)
		theta[i] = u / math.Sqrt(float64(inputs))
	}
	return theta
}

// optimiser returns a function that updates n parameters by a noisy gradient.
func (g *gradients) optimiser(n int) func(theta, gradient []float64) {
	if g.Optimiser == SGD {
		return func(theta, gradient []float64) {
			for i, x := range gradient {
				theta[i] -= g.learning * x
			}
		}
	}
	const first, second, least = 0.9, 0.999, 1e-8
	m, v := make([]float64, n), make([]float64, n)
	a, b := 1.0, 1.0
	return func(theta, gradient []float64) {
		a, b = a*first, b*second
		for i, x := range gradient {
			m[i] = first*m[i] + (1-first)*x
			v[i] = second*v[i] + (1-second)*x*x
			theta[i] -= g.learning * (m[i] / (1 - a)) / (math.Sqrt(v[i]/(1-b)) + least)
		}
	}
}
