package regression

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// GLMTrials asks for the regulariser, among several, with which a logistic model predicts the most rows correctly.
// The kernel makes a random number of trials and releases only the best (curator.SearchMinimum).
type GLMTrials struct {
	// GLM is the model. Its Regularise, Curvature, Normalise and Choose must be empty. Rows is required unless the
	// policy declares the number of rows.
	GLM
	Regularisers []string // regularisation parameters to try, as decimals
	Trials       float64  // average number of trials; 0 means ten for each regulariser
}

// GLMTried is the best model of the trials. Its coefficients refer to the unscaled columns and have no intervals.
// The regulariser, which was selected by the rows, shrinks them towards 0.
type GLMTried struct {
	ID string `json:"id,omitempty"`
	Spec
	Regularise   json.Number        `json:"regularise,omitempty"`
	Coefficients []TriedCoefficient `json:"coefficients"`
	// Correct is the noisy count of rows that the model predicts correctly, and CorrectError is the standard
	// deviation of its noise. The count tends to be too large, because it is the best of several. Both are nil in
	// an explanation.
	Correct      *float64     `json:"correct"`
	CorrectError *float64     `json:"correct_stddev"`
	Trials       float64      `json:"trials_on_average"`
	Missed       float64      `json:"missed"` // probability that a given regulariser was never tried
	Trial        curator.Loss `json:"trial_price"`
	Paid
	Affordable bool   `json:"-"`
	Largest    string `json:"-"` // in an explanation, the largest affordable ε of one question
}

// TriedCoefficient is a coefficient with the standard deviation of its noise.
type TriedCoefficient struct {
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"` // nil in an explanation
	Noise    float64  `json:"noise_error"`
}

// TryGLM runs the trials and returns the best model.
func TryGLM(ctx context.Context, c *curator.Session, q GLMTrials) (*GLMTried, error) {
	p, m, err := decideTrials(c, q)
	if err != nil {
		return nil, err
	}
	r, err := c.SearchMinimum(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.tried(q, r), nil
}

// ExplainTrials states what TryGLM would cost. It spends nothing. The stated noise is for the first regulariser.
func ExplainTrials(ctx context.Context, c *curator.Session, q GLMTrials) (*GLMTried, error) {
	p, m, err := decideTrials(c, q)
	if err != nil {
		return nil, err
	}
	r, err := c.ExplainSearch(ctx, m)
	if err != nil {
		return nil, err
	}
	out := p.tried(q, r)
	b, err := c.Budget()
	if err != nil {
		return nil, err
	}
	out.Regularise, out.Largest, out.Affordable = "", b.Largest, r.Replayed || request.Affordable(r.Remaining, r.Price)
	return out, nil
}

func decideTrials(c *curator.Session, q GLMTrials) (*glmPlan, curator.MinimumSearch, error) {
	m := curator.MinimumSearch{Trials: q.Trials}
	switch {
	case q.Family != Logistic:
		return nil, m, request.Misuse("", "only logistic models support trying ridge penalties")
	case q.Regularise+q.Curvature+q.Normalise+q.Choose+q.Cluster != "":
		return nil, m, request.Misuse("leave them out",
			"a search for a ridge penalty does not support --regularise, --curvature, --normalise, --choose and --cluster")
	case len(q.Regularisers) < 2:
		return nil, m, request.Misuse("such as 20,50,200", "a search needs at least two ridge penalties")
	}
	p, err := decideGLM(c, q.GLM)
	if err != nil {
		return nil, m, err
	}
	if p.declared == 0 {
		return nil, m, request.Misuse("give --rows, a public or released number",
			"the approximate number of rows is missing")
	}
	// the kernel keeps the regulariser for up to twice the declared number of rows
	m.Request, m.Bound, m.Rows = p.Request, p.Bound, 2*p.declared
	m.SQL = p.sql
	for _, text := range q.Regularisers {
		r, err := exact.ParseDecimal(strings.TrimSpace(text))
		if err != nil || r.Sign() <= 0 {
			return nil, m, request.Misuse("", "a ridge penalty must be a decimal above 0, not %q", text)
		}
		m.Candidates = append(m.Candidates, curator.MinimumCandidate{Regularise: exact.FormatRat(r), Radius: p.Radius})
	}
	return p, m, nil
}

// tried converts a result to the units of the unscaled columns.
func (p *glmPlan) tried(q GLMTrials, r *curator.FoundMinimum) *GLMTried {
	out := &GLMTried{
		ID: r.ID, Spec: p.spec(), Regularise: json.Number(strings.TrimSpace(q.Regularisers[r.Best])),
		Trials: r.Trials, Missed: r.Missed, Trial: r.Trial, Paid: Paid{r.Limits, r.Price, r.Remaining, r.Replayed},
	}
	unit, _ := r.Coefficients.Unit.Float64()
	theta, length := make([]float64, len(r.Coefficients.Values)), 0.0
	for i, v := range r.Coefficients.Values {
		f, _ := new(big.Float).SetInt(v).Float64()
		theta[i] = f * unit
		length = math.Hypot(length, theta[i])
	}
	if radius, _ := p.radius.Float64(); length > radius {
		for i := range theta {
			theta[i] *= radius / length
		}
	}
	raw := p.design.Raw(theta)
	for i, weights := range p.design.Weights {
		k := TriedCoefficient{Name: p.design.Columns[i].Name}
		for _, w := range weights {
			k.Noise = math.Hypot(k.Noise, w*r.Coefficients.Noise.StdDev()*unit)
		}
		if len(theta) > 0 {
			k.Estimate = glmNumber(raw[i])
		}
		out.Coefficients = append(out.Coefficients, k)
	}
	if len(r.Correct.Values) > 0 {
		n, _ := new(big.Float).SetInt(r.Correct.Values[0]).Float64()
		sd := r.Correct.Noise.StdDev()
		out.Correct, out.CorrectError = &n, &sd
	}
	return out
}
