package regression

import (
	"context"
	"math"
	"math/big"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/glm"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// glmRows is the number of rows that explanations assume if the number is unknown.
const glmRows = 10000

// decideGLM plans a model, except for the parameters that depend on the number of rows.
func decideGLM(c *curator.Session, q GLM) (*glmPlan, error) {
	return decideGLMWithin(c, q, nil)
}

// decideGLMWithin plans a model as [decideGLM] does, within narrower bounds that were found.
func decideGLMWithin(c *curator.Session, q GLM, found []formula.Bounds) (*glmPlan, error) {
	p := &glmPlan{GLM: q, c: c, family: glm.Family(q.Family)}
	if q.Family != Logistic && q.Family != Poisson {
		return nil, request.Misuse("", "a generalized linear model must be %s or %s, not "+
			"%q", Logistic, Poisson, q.Family)
	}
	alpha, err := request.Confidence(&p.Confidence)
	if err != nil {
		return nil, err
	}
	if err := request.CheckCondition(q.Where); err != nil {
		return nil, err
	}
	p.confidence = 1 - alpha
	if q.Given() && q.Family != Logistic {
		return nil, request.Misuse("", "the response of a %s model is a number: it has no classes", q.Family)
	}
	if p.design, err = classDesign(c, q.Table, q.Formula, found, q.Classes, false); err != nil {
		return nil, err
	}
	tables, err := c.Tables()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if t.Name == p.design.Table && strings.TrimSpace(q.Where) == "" && !p.design.Response.Partial {
			p.declared = t.ExpectedRows
		}
	}
	if p.Rows < 0 {
		return nil, request.Misuse("", "the number of rows cannot be %d", p.Rows)
	}
	if p.Rows > 0 {
		p.declared = p.Rows
	}
	p.sql = p.design.Question(q.Where, p.design.Response.SQL)
	if err := p.held(); err != nil {
		return nil, err
	}
	if err := p.decideMethod(); err != nil {
		return nil, err
	}
	p.minimising = p.Request
	trial, _, err := p.minimisation(glmRows, 0)
	if err != nil {
		return nil, err
	}
	told, err := c.ExplainMinimize(context.Background(), trial)
	if err != nil {
		return nil, err
	}
	p.price = told.Price
	if _, inRho, err := request.Price(p.price); err != nil {
		return nil, err
	} else if inRho && p.Method == MethodObjective {
		return nil, request.Misuse("leave --method out, or ask under a budget in ε", "the method %s has a price in ε alone", MethodObjective)
	}
	if p.Cluster != "" {
		return p.cluster(told.Limits.MaxRows)
	}
	if p.declared > 0 {
		return p, nil
	}
	parts := big.NewRat(1, 20)
	if p.counting, err = request.AtShare(p.Request, p.price, parts); err != nil {
		return nil, err
	}
	p.minimising, err = request.AtShare(p.Request, p.price, parts.Sub(big.NewRat(1, 1), parts))
	return p, err
}

// held sets the bound on the predictors' norm and the radius of the coefficients.
func (p *glmPlan) held() error {
	if p.Bound == "" {
		p.Bound = p.design.Bound(curator.L2)
	}
	norm, err := exact.ParseDecimal(p.Bound)
	if err != nil || norm.Sign() <= 0 {
		return request.Misuse("", "the bound of the predictors' norm must be a decimal above 0, not %q", p.Bound)
	}
	p.bound, _ = norm.Float64()
	p.most, _ = p.design.MostOfL2.Float64()
	if p.Radius != "" {
		r, err := exact.ParseDecimal(p.Radius)
		if err != nil || r.Sign() <= 0 {
			return request.Misuse("", "the radius must be a decimal above 0, not %q", p.Radius)
		}
		p.radius = r
		return nil
	}
	p.radius = big.NewRat(10, 1)
	if p.family == glm.Poisson { // this radius permits means up to the response's upper bound, and at least up to e
		high, _ := p.design.Response.High.Float64()
		r := min(max(math.Log(max(high, 1)), 1), 29) / max(p.bound, 1e-9)
		p.radius = exact.CeilDigits(new(big.Rat).SetFloat64(r), 4)
	}
	p.Radius = exact.FormatRat(p.radius)
	return nil
}

func (p *glmPlan) count() curator.Question {
	q := p.counting.Question()
	q.Truncation = "0" // a model does not show an estimate of what the bounds cut
	of := "*"
	if p.design.Response.Partial {
		of = p.design.Response.SQL
	}
	q.SQL = "SELECT COUNT(" + of + ") FROM " + curator.SQLName(p.design.Table) + request.Where(p.Where)
	return q
}

// minimisation returns the request for the kernel and the model's parameters. rows is the approximate number of
// rows, and spread is its standard deviation.
func (p *glmPlan) minimisation(rows, spread float64) (curator.Minimisation, GLMTerms, error) {
	rows = min(max(rows, 20), 1e12)
	// The kernel increases the regulariser in proportion if there are more rows than Rows. Doubling the number and
	// adding eight standard deviations of its noise avoids this.
	m := curator.Minimisation{
		Request: p.minimising, Loss: p.Family, Bound: p.Bound, Radius: p.Radius, Regularise: p.Regularise,
		Rows: int64(2*rows + 8*spread), Curvature: p.Curvature,
	}
	m.SQL = p.sql
	terms := GLMTerms{Rows: rows, Bound: p.bound}
	terms.Radius, _ = p.radius.Float64()
	if p.Regularise == "" || p.Curvature == "" {
		t, _, err := p.terms(m, rows)
		if err != nil {
			return m, terms, err
		}
		choice := t.Choose()
		terms.Expected = glmNumber(choice.Expected)
		if p.Regularise == "" {
			m.Regularise = glmDecimal(choice.Regularise)
		}
		if p.Curvature == "" {
			m.Curvature = glmDecimal(choice.Share)
		}
	}
	if r, err := exact.ParseDecimal(m.Curvature); err == nil && r.Sign() == 0 {
		m.Curvature = ""
	}
	for text, to := range map[string]*float64{m.Regularise: &terms.Regularise, m.Curvature: &terms.Curvature} {
		if r, err := exact.ParseDecimal(text); err == nil {
			*to, _ = r.Float64()
		}
	}
	return m, terms, nil
}

// glmDecimal writes a positive number with three significant digits, rounded up.
func glmDecimal(x float64) string {
	return exact.FormatRat(exact.CeilDigits(new(big.Rat).SetFloat64(x), 3))
}

// terms returns the public terms of a fit, and its price. The kernel's explanation states how many rows of a unit count.
func (p *glmPlan) terms(m curator.Minimisation, rows float64) (t glm.Terms, whole curator.Loss, err error) {
	m.Curvature = ""
	if m.Regularise == "" {
		m.Regularise = glmDecimal(rows / 10)
	}
	told, err := p.c.ExplainMinimize(context.Background(), m)
	if err != nil {
		return t, whole, err
	}
	t = glm.Terms{
		Family: p.family, Predictors: len(p.design.Columns), Rows: rows, Bound: p.bound,
		Steep: 1, Bend: 0.25,
	}
	if p.family == glm.Poisson {
		r, _ := p.radius.Float64()
		high, _ := p.design.Response.High.Float64()
		t.Bend = math.Exp(min(r*p.bound, 30))
		t.Steep = max(t.Bend, high)
	}
	b, err := p.c.Budget()
	if err != nil {
		return t, whole, err
	}
	t.Unit = float64(told.Limits.MaxRows)
	if t.Moves = t.Unit; b.Neighbours == "change-one" {
		t.Moves *= 2
	}
	t.Drift = t.Unit * told.Radius / float64(m.Rows)
	price, inRho, err := request.Price(told.Price)
	if err != nil {
		return t, whole, err
	}
	if inRho {
		t.Rho, _ = price.Float64()
	} else {
		t.Epsilon, _ = price.Float64()
	}
	return t, told.Price, nil
}

// accesses are the accesses of a model's method, and its parameters.
type accesses struct {
	terms   GLMTerms
	minimum curator.Minimisation // for MethodMinimize
	steps   []curator.Derivation // for MethodNewton
	inside  curator.Perturbation // for MethodObjective
}

// methods compares the methods, and returns the accesses of the requested one, or of that with the least expected error. rows
// is the approximate number of rows, and spread is its standard deviation.
func (p *glmPlan) methods(rows, spread float64) (out accesses, err error) {
	if out.minimum, out.terms, err = p.minimisation(rows, spread); err != nil {
		return out, err
	}
	terms := &out.terms
	terms.Method, terms.Methods = MethodMinimize, []GLMMethod{{MethodMinimize, terms.Expected}}
	if p.Method == MethodMinimize {
		return out, nil
	}
	t, price, err := p.terms(out.minimum, terms.Rows)
	if err != nil {
		return out, err
	}
	if p.clustered == nil && p.design.Formula.Intercept { // the scores of clusters give their rows no weights
		t.Leverage = t.Weigh()
	}
	leverage := ""
	if t.Leverage > 0 {
		leverage = glmDecimal(t.Leverage)
	}
	var shares glm.Steps
	var refused error
	for _, shares = range []glm.Steps{t.Steps(), t.EvenSteps()} { // the policy may not permit the smaller prices of the best
		if out.steps, err = p.steps(price, leverage, shares); err != nil {
			return out, err
		}
		if refused = p.refused(out.steps); refused == nil {
			break
		}
	}
	permitted := func(ask func() error) bool { return p.Method != "" || ask() == nil }
	consider := func(method string, expected float64, possible bool) {
		if !possible { // the policy may not permit such small prices
			terms.Methods = append(terms.Methods, GLMMethod{method, nil})
			return
		}
		terms.Methods = append(terms.Methods, GLMMethod{method, glmNumber(expected)})
		if p.Method == method || p.Method == "" && (terms.Expected == nil || *terms.Expected > expected) {
			terms.Method, terms.Expected, terms.Regularise, terms.Curvature = method, glmNumber(expected), 0, 0
		}
	}
	consider(MethodNewton, shares.Expected, permitted(func() error { return refused }))
	if terms.Method == MethodNewton {
		terms.Leverage, _ = strconv.ParseFloat(leverage, 64)
	}
	if t.Rho > 0 {
		return out, nil
	}
	in := p.inside(t, out.minimum.Rows)
	out.inside = in.ask
	consider(MethodObjective, in.expected, in.fits && permitted(func() error {
		_, err := p.c.ExplainPerturb(context.Background(), in.ask)
		return err
	}))
	switch {
	case terms.Method == MethodObjective:
		terms.Regularise, _ = strconv.ParseFloat(in.ask.Regularise, 64)
		terms.Curvature, _ = strconv.ParseFloat(in.ask.Hessian, 64)
	case p.Method == MethodObjective:
		return out, request.Misuse("ask at a higher price, or leave --method out",
			"no ridge penalty suits the method %s at this price", MethodObjective)
	}
	return out, nil
}
