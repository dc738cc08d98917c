package curator

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"dither/internal/exact"
	"dither/internal/release"
	"dither/mechanism/stream"
)

// reported returns a stream with its estimates, and with the deviations that are expected.
func (c *Session) reported(r *release.ContinualRecord, o StreamOptions) (*StreamReport, error) {
	alpha, err := parseConfidence(&o.Confidence)
	if err != nil {
		return nil, err
	}
	m, err := c.kernel.Noisy(r)
	if err != nil {
		return nil, c.public(err)
	}
	out := c.streamTerms(r)
	if o.Window != 0 {
		out.Window = o.Window
	}
	if out.Window < 1 || out.Window > m.Periods {
		return nil, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("a window must have from 1 to %d periods, not %d", m.Periods, out.Window),
		}
	}
	out.Confidence = o.Confidence
	if out.Remaining, err = c.remains(&release.Released{Replayed: true}); err != nil {
		return nil, err
	}
	e, err := m.Estimates(stream.Longest(r.Released))
	if err != nil {
		return nil, c.public(&release.ParameterError{Err: err, Price: true})
	}
	var decay *big.Rat
	fading := make([]float64, m.Periods)
	if out.Decay != "" {
		if decay, err = exact.ParseRat(out.Decay); err != nil {
			return nil, c.public(release.ErrUnreadable)
		}
		fading = e.FadingDeviations(decay)
	}
	for t := 1; t <= m.Periods; t++ {
		out.Expected = append(out.Expected, StreamExpected{
			t, e.Deviation(t, 1), e.Deviation(t, t), e.Deviation(t, min(t, out.Window)), fading[t-1],
		})
	}
	z := math.Sqrt2 * math.Erfcinv(alpha)
	for g := range m.Cells {
		series := e.Series(r.Released, g)
		var faded []stream.Estimate
		if decay != nil {
			faded = series.Fading(decay)
		}
		for t := 1; t <= len(r.Released); t++ {
			out.Cells = append(out.Cells, StreamCell{
				Period: t, Begins: r.Terms.Begins(t), Keys: cellKeys(r.Terms.Keys, g),
				Count:  streamEstimate(series.Window(t, 1), z),
				Total:  streamEstimate(series.Window(t, t), z),
				Window: streamEstimate(series.Window(t, min(t, out.Window)), z),
			})
			if faded != nil {
				d := streamEstimate(faded[t-1], z)
				out.Cells[len(out.Cells)-1].Decayed = &d
			}
		}
	}
	return out, nil
}

// streamEstimate returns an estimate with its interval. The noise is a weighted sum of independent discrete Gaussians. Up
// to ρ = 2 their standard deviation is at least 2^19 units of their grid, because the diagonal of every matrix is at least
// 2^20. So the noise is normal up to a few units of the grid, which are less than 10⁻⁵ of its standard deviation. Where ρ
// is so large that a unit of the grid matters, the noise is far below the hundredth of a row to which the interval is
// rounded outward.
func streamEstimate(e stream.Estimate, z float64) Estimate {
	value, _ := e.Value.Float64()
	half := math.Ceil(100*z*e.Deviation+0.5) / 100
	return Estimate{
		Value: realNumber(value), StdDev: &e.Deviation,
		Low: realNumber(round2(value - half)), High: realNumber(round2(value + half)),
	}
}

// round2 rounds to hundredths.
func round2(x float64) float64 {
	r, ok := new(big.Rat).SetString(big.NewFloat(x).Text('f', 2))
	if !ok {
		return x
	}
	f, _ := r.Float64()
	return f
}

// cellKeys returns the keys of a cell. The last key changes fastest.
func cellKeys(keys []release.Labels, cell int) []*string {
	out := make([]*string, len(keys))
	for i := len(keys) - 1; i >= 0; i-- {
		n := len(keys[i].Values)
		out[i] = keys[i].Values[cell%n]
		cell /= n
	}
	return out
}

// Table returns the released periods as an answer, for display: the period and its beginning, the groups, and the three
// estimates.
func (r *StreamReport) Table() *Release {
	out := &Release{
		ID: r.ID, SQL: r.SQL, Confidence: r.Confidence, Price: r.Price, Remaining: r.Remaining,
		Notes: r.notes(),
	}
	for _, name := range append([]string{"period", "begins"}, r.Columns...) {
		out.Columns = append(out.Columns, Column{Name: name, Kind: Key})
	}
	for _, name := range r.estimates() {
		out.Columns = append(out.Columns, Column{Name: name, Kind: Measure, Mechanism: Derived})
	}
	for i := range r.Cells {
		cell := &r.Cells[i]
		row := Row{{Key: int64(cell.Period)}, {Key: r.begins(cell.Begins)}}
		for _, key := range cell.Keys {
			if key == nil {
				row = append(row, Cell{})
			} else {
				row = append(row, Cell{Key: *key})
			}
		}
		row = append(row, Cell{Estimate: &cell.Count}, Cell{Estimate: &cell.Total}, Cell{Estimate: &cell.Window})
		if cell.Decayed != nil {
			row = append(row, Cell{Estimate: cell.Decayed})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// Drawn returns the answer of Table without the beginnings of periods, for a chart by period and group.
func (r *StreamReport) Drawn() *Release {
	out := r.Table()
	out.Columns = slices.Delete(out.Columns, 1, 2)
	for i := range out.Rows {
		out.Rows[i] = slices.Delete(out.Rows[i], 1, 2)
	}
	return out
}

// Released returns the number of released periods.
func (r *StreamReport) Released() int {
	if n := len(r.Advances); n > 0 {
		return r.Advances[n-1].Last
	}
	return 0
}

// estimates returns the names of the columns of estimates.
func (r *StreamReport) estimates() []string {
	out := []string{"count", "total", r.windowName()}
	if r.Decay != "" {
		out = append(out, "decayed")
	}
	return out
}

// windowName returns the name of the column of windows.
func (r *StreamReport) windowName() string { return fmt.Sprintf("last_%d", r.Window) }

// begins writes the beginning of a period: a date if all periods begin at midnight.
func (r *StreamReport) begins(t time.Time) string {
	if r.Every != "hour" && r.From.Equal(r.From.Truncate(24*time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// bounded states which rows count.
func (r *StreamReport) bounded() string {
	rows := "one row"
	if r.Rows > 1 {
		rows = Thousands(r.Rows) + " rows"
	}
	note := "a row counts in the period in which it is first sealed, and at most " + rows + " of a unit over the whole horizon"
	if r.PerPeriod > 0 {
		note += fmt.Sprintf(", and at most %d in one period", r.PerPeriod)
	}
	return note
}

// notes states what the numbers of a stream mean.
func (r *StreamReport) notes() []string {
	out := []string{r.bounded(), "the price pays for all periods, and was charged when the stream was created"}
	if r.Decay != "" {
		out = append(out, "decayed sums the counts; each period multiplies earlier counts by "+r.Decay)
	}
	return out
}

// members lists a choice for JSON.
func (c *StreamChoice) members() members {
	if c == nil {
		return nil
	}
	var candidates []members
	for _, x := range c.Candidates {
		candidates = append(candidates, members{{"name", x.Name}, {"rmse", x.RMSE}, {"maximum", x.Maximum}})
	}
	return members{{"chosen", c.Chosen}, {"candidates", candidates}, {"bound", c.Bound}}
}

// MarshalJSON writes the stream with its releases, or, before it is created, with the deviations that are expected.
func (r *StreamReport) MarshalJSON() ([]byte, error) {
	var rows []members
	for _, cell := range r.Cells {
		row := members{{"period", cell.Period}, {"begins", cell.Begins.Format(time.RFC3339)}}
		for i, name := range r.Columns {
			row = append(row, member{name, cell.Keys[i]})
		}
		row = append(row, member{"count", cell.Count}, member{"total", cell.Total}, member{"window", cell.Window})
		if cell.Decayed != nil {
			row = append(row, member{"decayed", *cell.Decayed})
		}
		rows = append(rows, row)
	}
	var expected []members
	for _, e := range r.Expected {
		row := members{{"period", e.Period}, {"count", e.Count}, {"total", e.Total}, {"window", e.Window}}
		if r.Decay != "" {
			row = append(row, member{"decayed", e.Decayed})
		}
		expected = append(expected, row)
	}
	advances := make([]members, 0, len(r.Advances))
	for _, a := range r.Advances {
		advances = append(advances, members{
			{"first", a.First}, {"last", a.Last}, {"version", a.Version}, {"at", a.At.UTC().Format(time.RFC3339)},
		})
	}
	return PlainJSON(struct {
		Name       string    `json:"stream"`
		ID         *string   `json:"release"`
		SQL        string    `json:"sql"`
		Every      string    `json:"every"`
		From       string    `json:"from"`
		Periods    int       `json:"periods"`
		Released   int       `json:"released"`
		Rows       int64     `json:"rows_per_unit"`
		PerPeriod  int64     `json:"rows_per_period,omitempty"`
		Key        []string  `json:"key"`
		Ended      bool      `json:"ended"`
		GivenUp    bool      `json:"given_up,omitempty"`
		Damaged    bool      `json:"damaged,omitempty"`
		Price      Loss      `json:"price"`
		Window     int       `json:"window"`
		Decay      decimal   `json:"decay,omitempty"`
		Remaining  Loss      `json:"remaining"`
		Confidence decimal   `json:"confidence"`
		Values     []members `json:"rows"`
		Expected   []members `json:"expected"`
		Advances   []members `json:"advances"`
		Choice     members   `json:"choice,omitempty"`
	}{
		r.Name, orNull(r.ID), r.SQL, r.Every, r.From.Format(time.RFC3339), r.Periods, r.Released(), r.Rows, r.PerPeriod, r.Key, r.Ended,
		r.GivenUp, r.Damaged, r.Price, r.Window, decimal(r.Decay), r.Remaining, decimal(r.Confidence), append([]members{}, rows...), append([]members{}, expected...), advances,
		r.Choice.members(),
	})
}
