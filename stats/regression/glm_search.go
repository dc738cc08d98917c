package regression

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// GLMSearch selects one of several logistic models of the same response, which differ in predictors or
// regularisers. Each candidate is fitted at its own price. Then one question counts, for each candidate, the rows
// that it predicts correctly: the predicted probability is on the same side of 1/2 as the response. The candidate
// with the largest noisy count wins.
type GLMSearch struct {
	Candidates []GLM           // must have the same table, condition and response
	Score      curator.Request // the price of the counts; the SQL is generated from the candidates
}

// GLMSearched is the result of a [GLMSearch].
type GLMSearched struct {
	ID         string      `json:"id"` // release of the counts
	Candidates []Candidate `json:"candidates"`
	Best       int         `json:"best"`  // index of the winning candidate
	Model      *GLMFit     `json:"model"` // fit of the winning candidate
	// Price is the price of all fits and of the counts together, in Unit. By composition, the prices add up. The
	// selection is post-processing.
	Price     string       `json:"price"`
	Unit      string       `json:"unit"` // "epsilon" or "rho"
	Remaining curator.Loss `json:"remaining"`
	Replayed  bool         `json:"replayed"`
}

// Candidate is one of the models among which a [GLMSearch] selects.
type Candidate struct {
	Formula string  `json:"formula"`
	Correct float64 `json:"correct"` // noisy count of the rows that it predicts correctly
	StdDev  float64 `json:"stddev"`  // standard deviation of the noise
	Fit     *GLMFit `json:"-"`
}

// maxCandidates is the largest number of candidates. With more of them, noise would hide the differences between
// the counts.
const maxCandidates = 32

// SearchGLM fits all candidates and selects one. By composition, its loss is the sum of all prices, because each
// fit and the counts are releases of the kernel. SearchGLM starts only if the remaining budget covers the whole
// price.
func SearchGLM(ctx context.Context, c *curator.Session, s GLMSearch) (*GLMSearched, error) {
	if len(s.Candidates) < 2 || len(s.Candidates) > maxCandidates {
		return nil, request.Misuse("", "a search takes 2 to %d models", maxCandidates)
	}
	out, replayed, response := &GLMSearched{}, true, ""
	var counts []string
	var prices []curator.Loss
	for i, q := range s.Candidates {
		p, err := decideGLM(c, q)
		if err != nil {
			return nil, err
		}
		switch {
		case q.Normalise+q.Choose != "":
			return nil, request.Misuse("leave them out",
				"the candidates of a search must use neither --normalise nor --choose")
		case q.Family != Logistic:
			return nil, request.Misuse("", "all models of a search must be logistic")
		case i > 0 && (p.design.Table != s.Candidates[0].Table &&
			!strings.EqualFold(p.design.Table, s.Candidates[0].Table) || q.Where != s.Candidates[0].Where ||
			p.design.Response.SQL != response):
			return nil, request.Misuse("", "the models of a search must have the same table, condition and response")
		}
		response = p.design.Response.SQL
		told, err := ExplainGLM(ctx, c, q)
		if err != nil {
			return nil, err
		}
		prices, replayed = append(prices, told.Price), replayed && told.Replayed
		radius, _ := p.radius.Float64()
		// placeholder coefficients, at least as long in SQL as the fitted ones
		widest := slices.Repeat([]float64{-radius}, len(p.design.Columns))
		counts = append(counts, p.correct(widest))
	}
	score, err := c.Explain(ctx, s.counting(counts))
	if err != nil {
		return nil, err
	}
	prices = append(prices, score.Price)
	total, inRho, err := request.Sum(prices...)
	if err != nil {
		return nil, err
	}
	out.Price, out.Unit = exact.FormatRat(total), "epsilon"
	price := curator.Loss{Epsilon: out.Price}
	if inRho {
		out.Unit, price = "rho", curator.Loss{Rho: out.Price}
	}
	if !replayed && !request.Affordable(score.Remaining, prices...) {
		return nil, request.Exhausted("compare fewer models, or lower the prices",
			"the price of all candidates and their counts", price, score.Remaining)
	}
	return out, s.run(ctx, c, out)
}

// run fits the candidates, counts their correct predictions, and selects one.
func (s GLMSearch) run(ctx context.Context, c *curator.Session, out *GLMSearched) error {
	var counts []string
	out.Replayed = true
	for _, q := range s.Candidates {
		f, err := FitGLM(ctx, c, q)
		if err != nil {
			return request.Stopped(err, out.releases()...)
		}
		p, err := decideGLM(c, q)
		if err != nil {
			return request.Stopped(err, out.releases()...)
		}
		out.Candidates, out.Replayed = append(out.Candidates, Candidate{Formula: f.Formula, Fit: f}),
			out.Replayed && f.Replayed
		counts = append(counts, p.correct(f.scaled))
	}
	r, err := c.Answer(ctx, s.counting(counts))
	if err != nil {
		return request.Stopped(err, out.releases()...)
	}
	if len(r.Rows) != 1 || len(r.Rows[0]) != len(s.Candidates) {
		return request.Stopped(request.Misuse("give only a condition on rows, without GROUP BY or other clauses",
			"the released counts do not match the question"), append(out.releases(), r.ID)...)
	}
	out.ID, out.Remaining, out.Replayed = r.ID, r.Remaining, out.Replayed && r.Replayed
	for i := range out.Candidates {
		e := r.Rows[0][i].Estimate
		if e == nil || e.Value == nil || e.StdDev == nil {
			return fmt.Errorf("a count without a value")
		}
		k := &out.Candidates[i]
		k.Correct, k.StdDev = e.Value.Real, *e.StdDev
		if k.Correct > out.Candidates[out.Best].Correct {
			out.Best = i
		}
	}
	out.Model = out.Candidates[out.Best].Fit
	return nil
}

// releases returns the releases of all fits so far.
func (s *GLMSearched) releases() (ids []string) {
	for _, k := range s.Candidates {
		ids = append(ids, k.Fit.IDs...)
	}
	return ids
}

// counting returns the question that counts, for each candidate, the rows that it predicts correctly.
func (s GLMSearch) counting(counts []string) curator.Question {
	q := s.Score.Question()
	q.Truncation = "0" // a comparison of models does not show an estimate of what the bounds cut
	var items []string
	for i, count := range counts {
		items = append(items, fmt.Sprintf("COUNT(CASE WHEN %s THEN 1 END) AS candidate%d", count, i+1))
	}
	q.SQL = "SELECT " + strings.Join(items, ", ") + " FROM " + curator.SQLName(s.Candidates[0].Table) +
		request.Where(s.Candidates[0].Where)
	return q
}

// correct returns the SQL condition that holds for a row that the model with these coefficients predicts correctly.
func (p *glmPlan) correct(scaled []float64) string {
	z, y := linearSQL(p.design, scaled), p.design.Response.SQL
	return fmt.Sprintf("(%s > 0 AND %s > 0.5) OR (%s <= 0 AND %s <= 0.5)", z, y, z, y)
}
