package regression

import (
	"context"
	"math"

	"dither/curator"
	"dither/stats/internal/request"
)

// farCoefficient is the largest scaled coefficient with which residuals are computed. Larger ones are clamped, which makes
// the residuals larger.
const farCoefficient = 8

// cluster divides the price, and plans the fit and the scores, before anything is paid.
func (l *linear) cluster(ctx context.Context, c *curator.Session) error {
	if l.Method == Lecture || l.FindBounds+l.Normalise+l.Choose+l.From != "" {
		return request.Misuse("leave out --cluster, or the others",
			"--cluster supports the method %s, without --find-bounds, --normalise, --choose and --from", AdaSSP)
	}
	k, where, err := newClustering(l.table, l.Cluster, l.Where)
	if err != nil {
		return err
	}
	l.Where = where
	parts, rest, err := request.Divide(l.told.Price, clusterShare)
	if err != nil {
		return err
	}
	whole := l.told
	k.price = request.At(l.Request, parts[0])
	l.Request = request.At(l.Request, rest)
	if err := l.plan(ctx, c); err != nil {
		return request.Partly(err)
	}
	l.clustered, l.whole = k, whole
	k.design, k.where, k.most = l.design, l.Where, float64(l.told.Unit.MaxRows)
	k.response, _, _ = l.design.Response.Scaled(l.design.Formula.Intercept)
	k.residual = func(linear string) string { return "v - (" + linear + ")" }
	k.far = farCoefficient
	if err := k.plan(ctx, c, l.mostNorm(), 1); err != nil {
		return err
	}
	if l.told.Replayed {
		// the coefficients are known, so it is known whether the scores were released too
		m, err := c.Moments(ctx, l.vectors)
		if err != nil {
			return err
		}
		if of, ok := l.scoresAfter(m); ok {
			if k.told, err = c.ExplainMoments(ctx, of); err != nil {
				return request.Partly(err)
			}
		}
	}
	return nil
}

// payable returns an error if the remaining budget does not cover the fit and the scores together.
func (l *linear) payable() error {
	var unpaid []curator.Loss
	for _, told := range []*curator.MomentsExplanation{l.told, l.clustered.told} {
		if !told.Replayed {
			unpaid = append(unpaid, told.Price)
		}
	}
	if len(unpaid) == 0 || request.Affordable(l.told.Remaining, unpaid...) {
		return nil
	}
	return request.Exhausted("lower it to --epsilon "+l.told.Largest+" or less",
		"the price of the fit and of the clusters", l.whole.Price, l.told.Remaining)
}

// mostNorm is the largest L₂ norm of a row's predictors.
func (l *linear) mostNorm() float64 {
	most, _ := l.design.MostOfL2.Float64()
	return most
}

// scoresAfter returns the question about the scores after the release m of the fit. ok is false if m determines no
// coefficients.
func (l *linear) scoresAfter(m *curator.Moments) (of curator.Vectors, ok bool) {
	q := l.equations(m)
	q.size = q.noise.norm(plain(len(q.b)), 0)
	s, ok := q.solve(true)
	if !ok {
		return of, false
	}
	most := l.mostNorm()
	norm, rows := most, 0.0
	if q.rows > 3*math.Sqrt(q.noise.rows) {
		total := 0.0
		for i := range q.b {
			total += math.Max(0, q.a.At(i, i))
		}
		norm, rows = math.Max(0.05*most, math.Min(most, math.Sqrt(total/q.rows))), q.rows
	}
	return l.clustered.at(s.gamma, rows, norm, math.Sqrt(math.Max(1e-6, s.spread()))), true
}

// fitClustered fits the regression, and then measures the scores of its clusters.
func (l *linear) fitClustered(ctx context.Context, c *curator.Session) (*LinearFit, error) {
	if err := l.payable(); err != nil {
		return nil, err
	}
	m, err := c.Moments(ctx, l.vectors)
	if err != nil {
		return nil, err
	}
	price, releases := l.told.Price, []string{m.ID}
	if of, ok := l.scoresAfter(m); ok {
		if l.scored, err = c.Moments(ctx, of); err != nil {
			return nil, request.Stopped(err, releases...)
		}
		price, releases = l.whole.Price, append(releases, l.scored.ID)
	}
	out, err := l.fit(m)
	if err != nil {
		return nil, request.Stopped(err, releases...)
	}
	out.Price, out.Releases = price, releases
	if l.scored != nil {
		out.Remaining, out.Replayed = l.scored.Remaining, out.Replayed && l.scored.Replayed
		out.Measured = append(out.Measured, l.clustered.sums(l.scored.Sums)...)
	}
	return out, nil
}

// enterClusters gives the intervals the scores of the clusters.
func (l *linear) enterClusters(out *LinearFit, q *normalEquations, v *inverter) {
	k := l.clustered
	if k == nil {
		return
	}
	out.Cluster, v.unknown = k.column, true
	if l.scored == nil {
		return
	}
	m, ok := k.meatOf(l.scored, len(q.b), q.rows)
	if !ok {
		out.warn(fewClusters)
		return
	}
	v.meat, v.unknown = m, false
	out.Warnings = append(out.Warnings, out.tell(k, m)...)
}

// explainClusters adds the clusters to an explanation.
func (l *linear) explainClusters(out *LinearExplanation) {
	k := l.clustered
	out.Sums = append(out.Sums, k.sums(k.told.Sums)...)
	out.Quoted = Quoted{l.whole.Price, l.told.Remaining, l.payable() == nil, l.told.Largest}
	out.Replayed = l.told.Replayed && k.told.Replayed
	out.Notes = append(out.Notes, k.notes(l.told.Replayed, "The stated noise of the scores is for a residual error as "+
		"large as half the response's range. The released residual error sets a smaller bound on scores.")...)
}
