package regression

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"dither/curator"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// Calibration asks how well a model's probabilities agree with the rows. For example, among the rows to which the
// model gives a probability between 0.2 and 0.3, it estimates the fraction that has the response. A calibration is
// a measurement with a price of its own: a histogram of the rows by bin and response, in which each row is in one
// cell.
type Calibration struct {
	curator.Request        // the price and the analyst; the SQL is generated from the model
	Confidence      string // a decimal between 0 and 1; "" is 0.95
	// Where is the condition that selects the rows to count. "" repeats the condition of the fit. The model is then
	// compared with the rows to which it was fitted, on which it is better calibrated than on others.
	Where string
	Bins  int // number of bins of equal width from 0 to 1; 0 means 10
}

// maxCalibrationBins is the largest number of bins. With more bins, the counts would be mostly noise.
const maxCalibrationBins = 50

// Calibrated is a comparison of predicted probabilities with observed rates.
type Calibrated struct {
	ID       string           `json:"id"`
	Response string           `json:"response"`
	Where    string           `json:"where"`
	Same     bool             `json:"same_rows"` // whether the counted rows are those to which the model was fitted
	Bins     []CalibrationBin `json:"bins"`      // the bins that are possible for predictors within their bounds
	Noise    string           `json:"noise"`
	StdDev   float64          `json:"stddev"` // standard deviation of the noise on each count
	Warnings []string         `json:"warnings"`
	Paid
	Formula    string      `json:"-"`
	Table      string      `json:"-"`
	Of         int         `json:"-"` // number of bins from 0 to 1, possible or not
	Confidence json.Number `json:"-"`
}

// CalibrationBin is one bin of predicted probabilities. Its interval covers sampling and noise, for this bin alone.
type CalibrationBin struct {
	Low  float64 `json:"predicted_low"`
	High float64 `json:"predicted_high"`
	Rows float64 `json:"rows"` // noisy count, which may be negative
	// fraction of the rows with the response; nil if the count is no larger than its noise
	Rate *float64 `json:"observed_rate"`
	// Interval is the interval of the observed rate.
	Interval struct {
		Low        float64     `json:"low"`
		High       float64     `json:"high"`
		Confidence json.Number `json:"confidence"`
	} `json:"interval"`
	// Off is 1 if the whole interval lies above the bin: the rows have the response more often than any probability
	// in the bin. Off is −1 if the whole interval lies below the bin. Otherwise Off is 0, and the model may be
	// right. For a correct model, the expected fraction of bins with Off ≠ 0 is at most 1 − confidence.
	Off int `json:"off"`
}

// CalibrationExplanation states what a calibration would cost. Obtaining it is free.
type CalibrationExplanation struct {
	SQL  string `json:"sql"` // contains placeholder coefficients if there is no fitted model yet
	Bins int    `json:"bins"`
	// StdDev is the standard deviation of the noise on each count. For a bin with n rows, half of which have the
	// response, the noise of the rate has a standard deviation of about StdDev/(√2·n).
	StdDev     float64      `json:"stddev"`
	Price      curator.Loss `json:"price"`
	Replayed   bool         `json:"replayed"`
	Remaining  curator.Loss `json:"-"`
	Affordable bool         `json:"-"`
}

// AffordableWith reports whether the remaining budget covers both the calibration and a fit of the given price. A
// calibration that was released before is free. A zero Loss means that the fit was released before.
func (e *CalibrationExplanation) AffordableWith(fit curator.Loss) bool {
	if fit == (curator.Loss{}) || e.Replayed {
		return e.Affordable
	}
	return request.Affordable(e.Remaining, e.Price, fit)
}

// scoring is a fitted logistic model whose probabilities are calibrated.
type scoring struct {
	design *formula.Design
	fitted string // condition of the rows to which it was fitted
	linear string // SQL of the linear predictor
}

// binned returns the SQL of the bin of a row's probability, counting from 0, where z is the linear predictor in
// millionths. The bin is NULL where z is NULL, because LEAST and GREATEST would ignore the NULL. The linear
// predictor is clamped to ±30, so that its exponential fits in a double for all coefficients. At ±30, the
// probability differs from 0 or 1 by less than 1e-13.
func binned(bins int) string {
	return fmt.Sprintf(
		"CASE WHEN z IS NOT NULL THEN LEAST(FLOOR(%d / (1 + EXP(-LEAST(GREATEST(z / %d.0, -30), 30)))), %d) END", bins,
		millionth, bins-1)
}

// linearSQL returns the SQL of a linear predictor in millionths. Each term is rounded to an integer, so that the
// sum is exact in any order and for any number of terms. For a sum of many doubles, range analysis could not bound
// the distance from 0.
func linearSQL(d *formula.Design, scaled []float64) string {
	const far = 1e8 // a coefficient at which the probability is 0 or 1 anyway
	terms := []string{"0"}
	for i, column := range d.Columns {
		if i < len(scaled) {
			c := min(max(scaled[i], -far), far) * millionth
			terms = append(terms, fmt.Sprintf("ROUND(%s * (%s))", strconv.FormatFloat(c, 'f', 3, 64), column.SQL))
		}
	}
	return strings.Join(terms, " + ")
}

// millionth is the number of units of [linearSQL] in 1.
const millionth = 1_000_000

// question returns the question whose answer is the histogram of rows by bin and response.
func (s scoring) question(q Calibration) (curator.Question, error) {
	out := q.Question()
	out.Confidence, out.Truncation = q.Confidence, "0" // a calibration does not show an estimate of what the bounds cut
	r := s.design.Response
	if r.Low.Sign() != 0 || r.High.Cmp(big.NewRat(1, 1)) != 0 || r.Real {
		return out, request.Misuse("", "a calibration needs a response of two values, unlike %s", r.Name)
	}
	where := q.Where
	if strings.TrimSpace(where) == "" {
		where = s.fitted
	}
	if err := request.CheckCondition(where); err != nil {
		return out, err
	}
	from := fmt.Sprintf("SELECT %s AS z, %s AS response FROM %s",
		s.linear, r.SQL, curator.SQLName(s.design.Table)) + request.Where(where)
	// A single key encodes the bin and the response, because a release may reorder several keys.
	out.SQL = fmt.Sprintf(
		"SELECT 2 * bin + response, COUNT(*) FROM (SELECT %s AS bin, response FROM (%s) AS linear) AS scored"+
			" WHERE bin IS NOT NULL AND response IS NOT NULL GROUP BY 2 * bin + response", binned(q.bins()), from)
	return out, nil
}

func (q Calibration) bins() int {
	if q.Bins == 0 {
		return 10
	}
	return q.Bins
}

func (q Calibration) check() error {
	if q.Bins != 0 && (q.Bins < 2 || q.Bins > maxCalibrationBins) {
		return request.Misuse("", "a calibration must have 2 to %d bins, not %d", maxCalibrationBins, q.Bins)
	}
	return nil
}

// ExplainCalibration states what a calibration of a logistic model over this table would cost. The cost does not
// depend on the coefficients. ExplainCalibration spends nothing.
func ExplainCalibration(
	_ context.Context, c *curator.Session, table, formula, where string, k formula.Classes, q Calibration,
) (*CalibrationExplanation, error) {
	d, err := classDesign(c, table, formula, nil, k, false)
	if err != nil {
		return nil, err
	}
	wide := make([]float64, len(d.Columns)) // placeholder coefficients with which every bin is possible
	for i := range wide {
		wide[i] = 50
	}
	return scoring{d, where, linearSQL(d, wide)}.explain(c, q)
}

func (s scoring) explain(c *curator.Session, q Calibration) (*CalibrationExplanation, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	question, err := s.question(q)
	if err != nil {
		return nil, err
	}
	e, err := c.Explain(context.Background(), question)
	if err != nil {
		return nil, err
	}
	out := &CalibrationExplanation{
		SQL: e.SQL, Bins: q.bins(), StdDev: math.NaN(), Price: e.Price,
		Remaining: e.Remaining, Affordable: e.Affordable, Replayed: e.Replayed,
	}
	for _, column := range e.Columns {
		if column.Expected != nil {
			out.StdDev = column.Expected.StdDev
		}
	}
	return out, nil
}

// Calibrate counts rows by their predicted probability and their response. The model must be logistic. A
// calibration that was released before is free.
func (f *GLMFit) Calibrate(ctx context.Context, c *curator.Session, q Calibration) (*Calibrated, error) {
	if f.Model != Logistic {
		return nil, request.Misuse("", "a calibration needs predicted probabilities, but a %s model has none", f.Model)
	}
	return scoring{f.design, f.where, linearSQL(f.design, f.scaled)}.calibrate(ctx, c, q)
}

// Calibrate counts rows as [GLMFit.Calibrate] does, for a trained logistic model.
func (t *Trained) Calibrate(ctx context.Context, c *curator.Session, q Calibration) (*Calibrated, error) {
	if t.Model != curator.LogisticModel {
		return nil, request.Misuse("", "a calibration needs a logistic model, not a %s model", t.Model)
	}
	return scoring{t.design, t.where, linearSQL(t.design, t.Theta)}.calibrate(ctx, c, q)
}

// calibrate measures the histogram and computes rates from its counts.
func (s scoring) calibrate(ctx context.Context, c *curator.Session, q Calibration) (*Calibrated, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	alpha, err := request.Confidence(&q.Confidence)
	if err != nil {
		return nil, err
	}
	question, err := s.question(q)
	if err != nil {
		return nil, err
	}
	m, err := c.Measure(ctx, question)
	if err != nil {
		return nil, err
	}
	if len(m.Vectors) != 1 {
		return nil, fmt.Errorf("the counts are %d vectors, not one", len(m.Vectors))
	}
	v := m.Vectors[0]
	sd, laplace := noiseOfCounts(v.Noise)
	out := &Calibrated{
		ID: m.ID, Formula: s.design.Formula.String(), Table: s.design.Table, Response: s.design.Response.Name,
		Where: strings.TrimSpace(q.Where), Confidence: json.Number(q.Confidence),
		Of: q.bins(), Noise: "discrete Gaussian", StdDev: sd, Paid: Paid{m.Limits, m.Price, m.Remaining, m.Replayed},
		Bins: []CalibrationBin{}, Warnings: []string{},
	}
	if laplace {
		out.Noise = "discrete Laplace"
	}
	out.Same = out.Where == "" || out.Where == strings.TrimSpace(s.fitted)
	if out.Where == "" {
		out.Where = strings.TrimSpace(s.fitted)
	}
	counts := map[int64]float64{}
	for i, keys := range m.Cells {
		if cell, ok := keys[0].(int64); ok { // a key is never NULL, because the condition excludes NULL
			counts[cell], _ = new(big.Float).SetInt(v.Values[i-v.First]).Float64()
		}
	}
	for bin := range int64(q.bins()) {
		zeros, possible := counts[2*bin]
		if ones, too := counts[2*bin+1]; possible && too {
			b := calibrationBin(float64(bin), float64(q.bins()), ones, zeros, sd, laplace, alpha)
			b.Interval.Confidence = out.Confidence
			out.Bins = append(out.Bins, b)
		}
	}
	if out.Same {
		out.Warnings = append(out.Warnings,
			"the model was fitted to these rows, and is calibrated less well on other rows; --calibration-where "+
				"selects other rows")
	}
	if s.design.ManyRows {
		out.Warnings = append(out.Warnings,
			"a person may have several rows: intervals assume that rows are independent, and cover sampling only if "+
				"they are")
	}
	return out, nil
}

func calibrationBin(bin, bins, ones, zeros, sd float64, laplace bool, alpha float64) CalibrationBin {
	b := CalibrationBin{Low: bin / bins, High: (bin + 1) / bins, Rows: ones + zeros}
	i := &b.Interval
	i.Low, i.High = rateInterval(ones, zeros, sd, laplace, alpha)
	if b.Rows > 2*math.Sqrt2*sd {
		rate := min(max(ones/b.Rows, i.Low), i.High)
		b.Rate = &rate
	}
	switch {
	case i.Low > b.High:
		b.Off = 1
	case i.High < b.Low:
		b.Off = -1
	}
	return b
}
