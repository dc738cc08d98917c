package curator

import "math/big"

// MarshalJSON writes the table. Undeclared properties, and the version of an unsealed table, are null.
func (t Table) MarshalJSON() ([]byte, error) {
	out := struct {
		Name         string          `json:"name"`
		Description  *string         `json:"description"`
		Public       bool            `json:"public"`
		Unit         *string         `json:"unit"`
		Through      string          `json:"through,omitempty"`
		ExpectedRows *int64          `json:"expected_rows"`
		Units        int64           `json:"units,omitempty"`
		Totals       []DeclaredTotal `json:"totals,omitempty"`
		Version      *int            `json:"version"`
		Part         string          `json:"part,omitempty"`
		PartsPerUnit *int64          `json:"parts_per_unit,omitempty"`
		Columns      []TableColumn   `json:"columns"`
		Limits       *Limits         `json:"bounds,omitempty"`
	}{
		Name: t.Name, Description: orNull(t.Description), Public: t.Public, Unit: &t.Unit, Through: t.Through,
		ExpectedRows: orNull(t.ExpectedRows), Units: t.Units, Totals: t.Totals, Version: orNull(t.Version), Part: t.Part, Columns: t.Columns, Limits: t.Limits,
	}
	switch {
	case t.Public:
		out.Unit = nil
	case t.Unit == "":
		t.Unit = "row"
	}
	if t.Part != "" {
		out.PartsPerUnit = &t.PartsPerUnit
	}
	return PlainJSON(out)
}

// MarshalJSON writes the column. Bounds and values have the column's JSON type; a date is a string.
func (c TableColumn) MarshalJSON() ([]byte, error) {
	var values []any // stays nil, and so null, if there are none
	for _, v := range c.Values {
		values = append(values, c.literal(v))
	}
	return PlainJSON(struct {
		Name         string  `json:"name"`
		Type         string  `json:"type"`
		Description  *string `json:"description"`
		Lower        any     `json:"lower"`
		Upper        any     `json:"upper"`
		Values       []any   `json:"values"`
		ValuesFrom   string  `json:"values_from,omitempty"`
		Nullable     bool    `json:"nullable"`
		References   string  `json:"references,omitempty"`
		RowsPerValue int64   `json:"rows_per_value,omitempty"`
	}{
		c.Name, c.Type, orNull(c.Description), c.bound(c.Lower), c.bound(c.Upper), values, c.ValuesFrom, c.Nullable,
		c.References, max(c.RowsPerValue, 0),
	})
}

func (c TableColumn) bound(text string) any {
	if text == "" {
		return nil
	}
	return c.literal(text)
}

// literal converts the text of a bound or a value to the column's JSON type.
func (c TableColumn) literal(text string) any {
	switch c.Type {
	case "boolean":
		return text == "true"
	case "integer":
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return wholeNumber(n) // becomes a string beyond 2^53, as in answers
		}
	case "real":
		return decimal(text)
	}
	return text
}
