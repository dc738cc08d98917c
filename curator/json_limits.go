package curator

// MarshalJSON writes the limits. Limits that do not apply are null, or left out for parts and joins.
func (l *Limits) MarshalJSON() ([]byte, error) {
	out := struct {
		Text            string      `json:"text"`
		Unit            string      `json:"unit"`
		MaxRows         *int64      `json:"max_rows"`
		MaxGroups       *int64      `json:"max_groups"`
		MaxRowsPerGroup *int64      `json:"max_rows_per_group"`
		StoredRows      *int64      `json:"stored_rows"`
		PartsPerUnit    int64       `json:"parts_per_unit,omitempty"`
		Joins           []JoinLimit `json:"joins,omitempty"`
		Clamps          []Clamp     `json:"clamps"`
	}{
		l.Text, l.Unit, orNull(l.MaxRows), orNull(l.MaxGroups), orNull(l.MaxRowsPerGroup), orNull(l.StoredRows),
		l.PartsPerUnit, l.Joins,
		append([]Clamp{}, l.Clamps...),
	}
	if l.Unit == "" {
		out.Unit = "row"
	}
	return PlainJSON(out)
}

// MarshalJSON writes the bounds. The bounds have the type of the column; a date is a string.
func (c Clamp) MarshalJSON() ([]byte, error) {
	of := TableColumn{Type: c.typed.String()}
	return PlainJSON(struct {
		Table    string `json:"table,omitempty"`
		Column   string `json:"column"`
		Low      any    `json:"low"`
		High     any    `json:"high"`
		PerGroup bool   `json:"per_group,omitempty"`
	}{c.Table, c.Column, of.literal(c.Lower), of.literal(c.Upper), c.PerGroup})
}
