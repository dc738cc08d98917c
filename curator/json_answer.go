package curator

import (
	"math"
	"strconv"
)

// MarshalJSON writes the release.
func (r *Release) MarshalJSON() ([]byte, error) {
	rows := make([]members, len(r.Rows))
	for i, row := range r.Rows {
		for j, cell := range row {
			value := any(cell.Estimate)
			if r.Columns[j].Kind == Key {
				value = keyJSON(cell.Key)
			}
			rows[i] = append(rows[i], member{r.Columns[j].Name, value})
		}
	}
	return PlainJSON(struct {
		ID         *string     `json:"release"`
		SQL        string      `json:"sql"`
		Confidence decimal     `json:"confidence"`
		Columns    []Column    `json:"columns"`
		Groupings  []Grouping  `json:"groupings,omitzero"`
		Rows       []members   `json:"rows"`
		Limits     *Limits     `json:"bounds,omitempty"`
		Notes      []string    `json:"notes,omitempty"`
		RowsBound  *RowsBound  `json:"rows_bound,omitempty"`
		Truncation *Truncation `json:"truncation,omitempty"`
		Measured   *Measured   `json:"measured,omitempty"`
		Questions  []*Measured `json:"questions,omitempty"`
		Paid       *Loss       `json:"paid,omitempty"`
		Price      Loss        `json:"price"`
		Remaining  Loss        `json:"remaining"`
		Replayed   bool        `json:"replayed"`
		Free       bool        `json:"free,omitempty"`
		From       []string    `json:"from,omitzero"`
		Whole      bool        `json:"whole,omitempty"`
	}{
		orNull(r.ID), r.SQL, decimal(r.Confidence), r.Columns, r.Groupings, rows, r.Limits, r.Notes, r.RowsBound,
		r.Truncation, r.Measured, r.Questions, r.Paid, r.Price, r.Remaining, r.Replayed, r.Free, r.From, r.Whole,
	})
}

func keyJSON(key any) any {
	if n, ok := key.(int64); ok && (n > maxSafe || n < -maxSafe) {
		return strconv.FormatInt(n, 10)
	}
	return key
}

// MarshalJSON writes {"value", "stddev", "low", "high"}, and "parts" if there are any.
func (e Estimate) MarshalJSON() ([]byte, error) {
	var parts members
	for _, p := range e.Parts {
		parts = append(parts, member{p.Name, p.Estimate})
	}
	return PlainJSON(struct {
		Value  *Number  `json:"value"`
		StdDev *float64 `json:"stddev"`
		Low    *Number  `json:"low"`
		High   *Number  `json:"high"`
		Parts  members  `json:"parts,omitempty"`
	}{e.Value, e.StdDev, e.Low, e.High, parts})
}

// ordered holds the members that only columns of quantiles and modes have.
type ordered struct {
	RankError    *finite `json:"rank_error,omitempty"`
	IntervalRows *finite `json:"interval_rows,omitempty"`
	Shortfall    *finite `json:"shortfall,omitempty"`
}

func orderedJSON(rankError, intervalRows, shortfall *float64) ordered {
	return ordered{(*finite)(rankError), (*finite)(intervalRows), (*finite)(shortfall)}
}

// MarshalJSON writes the column. A key has a name and a kind only.
func (c Column) MarshalJSON() ([]byte, error) {
	type named struct {
		Name string `json:"name"`
		Kind Kind   `json:"kind"`
	}
	if c.Kind == Key {
		return PlainJSON(named{c.Name, c.Kind})
	}
	var s share
	if c.Scale != nil || foretoldInRows(c) {
		s = shareJSON(c.Share)
	}
	return PlainJSON(struct {
		named
		Mechanism   string   `json:"mechanism"`
		Scale       *float64 `json:"scale"`
		Sensitivity *float64 `json:"sensitivity"`
		share
		ordered
		Parts      []Part    `json:"parts,omitempty"`
		Bounds     *Bounds   `json:"bounds,omitempty"`
		Expected   *Expected `json:"expected,omitempty"`
		NoInterval string    `json:"no_interval,omitempty"`
	}{
		named{c.Name, c.Kind},
		c.Mechanism, c.Scale, c.Sensitivity, s,
		orderedJSON(c.RankError, c.IntervalRows, c.Shortfall), c.Parts, c.Bounds, c.Expected, c.NoInterval,
	})
}

// MarshalJSON writes the measured question.
func (m *Measured) MarshalJSON() ([]byte, error) {
	type measured struct {
		SQL     string   `json:"sql"`
		Columns []Column `json:"columns"`
	}
	if m.Limits == nil {
		return PlainJSON(measured{m.SQL, m.Columns})
	}
	return PlainJSON(struct {
		ID *string `json:"release"`
		measured
		Limits     *Limits     `json:"bounds"`
		Price      Loss        `json:"price"`
		Replayed   bool        `json:"replayed"`
		Truncation *Truncation `json:"truncation,omitempty"`
	}{orNull(m.ID), measured{m.SQL, m.Columns}, m.Limits, m.Price, m.Replayed, m.Truncation})
}

// MarshalJSON writes the bounds.
func (b Bounds) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Low  float64 `json:"low"`
		High float64 `json:"high"`
		share
	}{b.Low, b.High, shareJSON(b.Share)})
}

// MarshalJSON writes the part.
func (p Part) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Name        string  `json:"name"`
		Mechanism   string  `json:"mechanism"`
		Scale       float64 `json:"scale"`
		Sensitivity float64 `json:"sensitivity"`
		share
		Centre float64 `json:"centre"`
	}{p.Name, p.Mechanism, p.Scale, p.Sensitivity, shareJSON(p.Share), p.Centre})
}

// MarshalJSON writes the bound on one unit's rows.
func (b *RowsBound) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Unit      string  `json:"unit"`
		Rows      *int64  `json:"rows"`
		Most      int64   `json:"most"`
		Quantile  decimal `json:"quantile"`
		RankError finite  `json:"rank_error"`
		share
	}{b.Unit, orNull(b.Rows), b.Most, decimal(b.Quantile), finite(b.RankError), shareJSON(b.Share)})
}

// MarshalJSON writes the predicted error. NaN becomes null, or is left out for an average's numbers.
func (e Expected) MarshalJSON() ([]byte, error) {
	out := struct {
		StdDev          finite   `json:"stddev"`
		HalfWidth       finite   `json:"half_width"`
		StdDevTimesN    *float64 `json:"stddev_times_n,omitempty"`
		HalfWidthTimesN *float64 `json:"half_width_times_n,omitempty"`
		N               int64    `json:"n,omitempty"`
	}{StdDev: finite(e.StdDev), HalfWidth: finite(e.HalfWidth)}
	if !math.IsNaN(e.StdDevTimesN) {
		out.StdDevTimesN, out.HalfWidthTimesN, out.N = &e.StdDevTimesN, &e.HalfWidthTimesN, max(e.N, 0)
	}
	return PlainJSON(out)
}

// MarshalJSON writes the grouping.
func (g Grouping) MarshalJSON() ([]byte, error) {
	out := struct {
		Keys     []string   `json:"keys"`
		Cells    int        `json:"cells"`
		Vectors  []Part     `json:"vectors"`
		Orders   []Ordering `json:"orders,omitzero"`
		Expected members    `json:"expected,omitzero"`
	}{append([]string{}, g.Keys...), g.Cells, append([]Part{}, g.Vectors...), g.Orders, nil}
	if g.Expected != nil {
		out.Expected = named(g.Expected)
	}
	return PlainJSON(out)
}

// MarshalJSON writes the ordering.
func (x Ordering) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Column    string `json:"column"`
		Mechanism string `json:"mechanism"`
		share
		ordered
	}{x.Column, x.Mechanism, shareJSON(x.Share), orderedJSON(x.RankError, x.IntervalRows, x.Shortfall)})
}

// named returns an object with the predicted error of each column.
func named(all []NamedExpected) members {
	out := members{}
	for _, e := range all {
		out = append(out, member{e.Column, e.Expected})
	}
	return out
}

// MarshalJSON writes the estimate of what the bounds cut.
func (t *Truncation) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Unit         string            `json:"unit"`
		Rows         int64             `json:"rows,omitempty"`
		Groups       int64             `json:"groups,omitempty"`
		RowsPerGroup int64             `json:"rows_per_group,omitempty"`
		Units        *Estimate         `json:"units"`
		Lost         *Estimate         `json:"lost_rows,omitempty"`
		LostUpTo     int64             `json:"lost_rows_up_to,omitempty"`
		Clamped      []ClampedRows     `json:"clamped,omitempty"`
		StdDev       float64           `json:"stddev"`
		Visible      int64             `json:"visible"`
		Verdict      TruncationVerdict `json:"verdict"`
		Advice       string            `json:"advice,omitempty"`
		share
	}{
		t.Unit, t.Rows, t.Groups, t.RowsPerGroup, t.Units, t.Lost, t.LostUpTo, t.Clamped, t.StdDev, t.Visible, t.Verdict, t.Advice,
		shareJSON(t.Share),
	})
}

// MarshalJSON writes the estimate of clamped rows.
func (c ClampedRows) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Column string    `json:"column"`
		Rows   *Estimate `json:"rows"`
		UpTo   int64     `json:"up_to"`
	}{c.Column, c.Rows, c.UpTo})
}
