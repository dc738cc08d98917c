package regression

import (
	"context"
	"fmt"
	"math"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/glm"
	"dither/stats/internal/request"
)

// farPredictor is a linear predictor at which a logistic model's mean differs from 0 or 1 by less than 1e-13.
const farPredictor = 30.0

// cluster divides the price between a fit and the scores of clusters, and plans both. rows is the most rows of a unit that
// count.
func (p *glmPlan) cluster(rows int64) (*glmPlan, error) {
	ctx := context.Background()
	switch {
	case p.Normalise+p.Choose != "":
		return nil, request.Misuse("leave out --cluster, or the others",
			"--cluster does not support --normalise and --choose")
	case p.bound < p.most:
		return nil, request.Misuse("leave out --bound, or declare narrower bounds",
			"--cluster needs a --bound of at least %s, which scales no row down", p.design.Bound(curator.L2))
	}
	if share, err := exact.ParseDecimal(p.Curvature); err == nil && share.Sign() == 0 {
		return nil, request.Misuse("leave one of them out",
			"--cluster is for intervals, for which --curvature 0 does not pay")
	}
	table, err := request.Table(p.c, p.Table)
	if err != nil {
		return nil, err
	}
	q := p.GLM
	q.Cluster = ""
	k, where, err := newClustering(table, p.Cluster, q.Where)
	if err != nil {
		return nil, err
	}
	q.Where = where
	parts, rest, err := request.Divide(p.price, clusterShare)
	if err != nil {
		return nil, err
	}
	k.price = request.At(q.Request, parts[0])
	q.Request = request.At(q.Request, rest)
	out, err := decideGLM(p.c, q)
	if err != nil {
		return nil, request.Partly(err)
	}
	out.clustered, out.whole = k, p.price
	k.design, k.where, k.most, k.response = out.design, q.Where, math.Max(1, float64(rows)), out.design.Response.SQL
	k.far, _ = out.radius.Float64()
	high, far, mean := 1.0, farPredictor, "1 / (1 + EXP(-(%s)))"
	if k.typical = 0.5; p.family == glm.Poisson {
		// The norms of θ and of a row bound every linear predictor, so the clamps move none. The range of the means needs them.
		far, mean = math.Ceil(1e6*k.far*out.bound)/1e6, "EXP(%s)"
		response, _ := k.design.Response.High.Float64()
		high, k.typical = math.Max(math.Exp(far), response), math.Sqrt(math.Max(1, response))
	}
	k.residual = func(linear string) string { // LEAST and GREATEST would ignore a NULL
		clamped := fmt.Sprintf("LEAST(GREATEST(%s, -%[2]g), %[2]g)", linear, far)
		return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN v - "+mean+" END", linear, clamped)
	}
	k.longest = k.most * out.most * high
	return out, k.plan(ctx, p.c, out.most, k.typical)
}

// total is the price of the fit, and of the scores of its clusters.
func (p *glmPlan) total() curator.Loss {
	if p.clustered == nil {
		return p.price
	}
	return p.whole
}

// covered returns an error if the remaining budget does not cover the prices of the fit and of the scores together.
func (p *glmPlan) covered(prices ...curator.Loss) error {
	if p.clustered != nil {
		prices = append(prices, p.clustered.told.Price)
	}
	b, err := p.c.Budget()
	if err != nil || request.Affordable(b.Remaining, prices...) {
		return err
	}
	return request.Exhausted("ask at a lower price", "the price", p.total(), b.Remaining)
}

// scoresAt returns the question about the scores of clusters at the coefficients of a fit of so many rows, unless noise
// hides whether there are more than a few. The coefficients are rounded, so that every machine asks the same question.
func (p *glmPlan) scoresAt(fit *glm.Fit, rows float64, few bool) curator.Vectors {
	gamma := make([]float64, len(fit.Theta))
	for i, x := range fit.Theta {
		gamma[i] = math.Round(1e4*x) / 1e4
	}
	if few || !(fit.Squares > 0) {
		return p.clustered.at(gamma, 0, p.most, p.clustered.typical)
	}
	// by the model, this is about the norm of a row's gradient
	size := math.Sqrt(fit.Squares / rows)
	return p.clustered.at(gamma, rows, math.Max(0.001*p.most, math.Min(p.clustered.longest, size)), 1)
}

// depend measures the scores of the clusters at the coefficients of a fit, whose errors then allow for dependent rows. A
// fit without intervals does not pay for them.
func (p *glmPlan) depend(ctx context.Context, out *GLMFit, fit *glm.Fit, few bool) error {
	k := p.clustered
	if out.Cluster = k.column; !fit.Known() {
		return nil
	}
	m, err := p.c.Moments(ctx, p.scoresAt(fit, out.Rows, few))
	if err != nil {
		return err
	}
	out.IDs, out.Remaining, out.Replayed = append(out.IDs, m.ID), m.Remaining, out.Replayed && m.Replayed
	out.Price, out.Scores = p.whole, k.sums(m.Sums)
	rows := out.Rows
	if k.units { // the noisy number of units bounds that of rows
		rows = math.Min(rows, k.most*math.Max(1, m.Sums[2].Reals(0)[0]))
	}
	of, ok := k.meatOf(m, len(fit.Theta), rows)
	if !ok {
		fit.Unknown(fewClusters)
		return nil
	}
	out.Warnings = append(out.Warnings, out.tell(k, of)...)
	fit.Depend(glm.Scores{Estimate: of.estimate, Upper: of.upper})
	return nil
}

// explainClusters adds the scores to the explanation of a fit, and returns what both have still to pay of the price.
func (p *glmPlan) explainClusters(
	ctx context.Context, out *GLMExplanation, price curator.Loss,
) (unpaid curator.Loss, err error) {
	k, known := p.clustered, out.Replayed
	if known { // the coefficients are known, so it is known whether the scores were released too
		fitted, fit, few, err := p.measure(ctx)
		if err != nil {
			return price, err
		}
		if !fit.Known() {
			return price, nil
		}
		if k.told, err = p.c.ExplainMoments(ctx, p.scoresAt(fit, fitted.Rows, few)); err != nil {
			return price, request.Partly(err)
		}
		out.Replayed, price = k.told.Replayed, k.told.Price
	}
	out.Scores = k.sums(k.told.Sums)
	out.Notes = append(out.Notes, k.notes(known, "The stated noise of the scores is for rows whose predictors have the "+
		"largest norm. The released curvature sets a smaller bound on scores.")...)
	return price, nil
}
