package curator

// MarshalJSON writes the members of a release except its rows, and adds the predicted errors.
func (e *Explanation) MarshalJSON() ([]byte, error) {
	cells := &e.Cells
	if e.Selection != nil || len(e.Questions) > 0 {
		cells = nil
	}
	return PlainJSON(struct {
		SQL         string          `json:"sql"`
		Confidence  decimal         `json:"confidence"`
		Columns     []Column        `json:"columns"`
		Groupings   []Grouping      `json:"groupings,omitzero"`
		Cells       *int            `json:"cells"`
		Selection   *GroupSelection `json:"selection,omitempty"`
		L2          float64         `json:"l2_sensitivity"`
		Sensitivity float64         `json:"sensitivity"`
		Price       Loss            `json:"price"`
		Remaining   Loss            `json:"remaining"`
		Affordable  bool            `json:"affordable"`
		Largest     decimal         `json:"largest_epsilon"`
		Charged     []string        `json:"charged,omitzero"`
		Replayed    bool            `json:"replayed"`
		Free        bool            `json:"free,omitempty"`
		Reuse       *Reuse          `json:"reuse,omitempty"`
		Unit        Unit            `json:"unit"`
		RowsBound   *RowsBound      `json:"rows_bound,omitempty"`
		Truncation  *Truncation     `json:"truncation,omitempty"`
		Work        Work            `json:"work"`
		Measured    *Measured       `json:"measured,omitempty"`
		Questions   []*Explanation  `json:"questions,omitempty"`
		Notes       []string        `json:"notes"`
	}{
		e.SQL, decimal(e.Confidence), e.Columns, e.Groupings, cells, e.Selection, e.L2, e.Sensitivity,
		e.Price, e.Remaining, e.Affordable,
		decimal(e.Largest), e.Charged, e.Replayed, e.Free, e.Reuse, e.Unit, e.RowsBound, e.Truncation, e.Work,
		e.Measured, e.Questions, e.Notes,
	})
}

// MarshalJSON writes the key selection.
func (g GroupSelection) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Strategy string `json:"strategy"`
		share
		Delta    *decimal `json:"delta"`
		Groups   int64    `json:"max_groups"`
		Changed  int64    `json:"changed_groups"`
		Shares   int64    `json:"delta_shares"`
		MinUnits int64    `json:"min_units"`
		Other    bool     `json:"other"`
		Half     int64    `json:"units_50"`
		Nearly   int64    `json:"units_95"`
		Surely   int64    `json:"units_999"`
	}{
		g.Strategy, shareJSON(g.Share), orNull(decimal(g.Delta)), g.Groups, g.Changed, g.Shares, g.MinUnits, g.Other,
		g.Half, g.Nearly, g.Surely,
	})
}

// MarshalJSON writes how the question can be answered free from earlier releases.
func (r *Reuse) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		From     []string `json:"from"`
		Taken    bool     `json:"taken"`
		Expected members  `json:"expected"`
		Differ   bool     `json:"differ"`
	}{r.From, r.Taken, named(r.Expected), r.Differ})
}

// MarshalJSON writes the bounds on the engine's work.
func (w Work) MarshalJSON() ([]byte, error) {
	return PlainJSON(struct {
		Steps   int64 `json:"steps"`
		Limit   int64 `json:"limit"`
		Rows    int64 `json:"rows"`
		Bounded bool  `json:"bounded"`
	}{w.Steps, w.Limit, w.Rows, !w.Unbounded})
}

// MarshalJSON writes the unit.
func (u Unit) MarshalJSON() ([]byte, error) {
	out := struct {
		Column          string `json:"column"`
		Neighbours      string `json:"neighbours"`
		MaxRows         *int64 `json:"max_rows"`
		MaxGroups       *int64 `json:"max_groups"`
		MaxRowsPerGroup *int64 `json:"max_rows_per_group"`
		PersonRows      int64  `json:"person_rows,omitempty"`
		// an interface, so that a nil *Loss becomes null and is not omitted
		Person    any   `json:"person,omitempty"`
		GroupSize int64 `json:"group_size,omitempty"`
		Group     any   `json:"group,omitempty"`
		Change    any   `json:"change,omitempty"`
	}{
		Column: u.Column, Neighbours: u.Neighbours, MaxRows: orNull(u.MaxRows), MaxGroups: orNull(u.MaxGroups),
		MaxRowsPerGroup: orNull(u.MaxRowsPerGroup),
	}
	if u.Column == "" {
		out.Column = "row"
	}
	if u.PersonRows > 0 {
		out.PersonRows, out.Person = u.PersonRows, u.Person
	}
	if u.GroupSize > 0 {
		out.GroupSize, out.Group, out.Change = u.GroupSize, u.Group, u.Change
	}
	return PlainJSON(out)
}
