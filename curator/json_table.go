package curator

import "math/big"

// MarshalJSON writes the table as docs/reference/json.md says: null where nothing is declared, or sealed.
func (t Table) MarshalJSON() ([]byte, error) {
	var o object
	o.add("name", t.Name)
	o.add("description", textOrNull(t.Description))
	o.add("public", t.Public)
	switch {
	case t.Public:
		o.add("unit", nil)
	case t.Unit == "":
		o.add("unit", "row")
	default:
		o.add("unit", t.Unit)
	}
	if t.Through != "" {
		o.add("through", t.Through)
	}
	o.add("expected_rows", countOrNull(t.ExpectedRows))
	o.add("version", countOrNull(int64(t.Version)))
	if t.Part != "" {
		o.add("part", t.Part)
		o.add("parts_per_unit", t.PartsPerUnit)
	}
	o.add("columns", t.Columns)
	return o.bytes()
}

// MarshalJSON writes the column. Bounds and values are of the column's type; a date is its text.
func (c TableColumn) MarshalJSON() ([]byte, error) {
	var o object
	o.add("name", c.Name)
	o.add("type", c.Type)
	o.add("description", textOrNull(c.Description))
	o.add("lower", c.bound(c.Lower))
	o.add("upper", c.bound(c.Upper))
	var values []any
	for _, v := range c.Values {
		values = append(values, c.literal(v))
	}
	o.add("values", values) // nil is null
	if c.ValuesFrom != "" {
		o.add("values_from", c.ValuesFrom)
	}
	o.add("nullable", c.Nullable)
	if c.References != "" {
		o.add("references", c.References)
	}
	if c.RowsPerValue > 0 {
		o.add("rows_per_value", c.RowsPerValue)
	}
	return o.bytes()
}

func (c TableColumn) bound(text string) any {
	if text == "" {
		return nil
	}
	return c.literal(text)
}

// literal is a bound or a value in its column's type.
func (c TableColumn) literal(text string) any {
	switch c.Type {
	case "boolean":
		return text == "true"
	case "integer":
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return wholeNumber(n) // as in an answer: a string beyond 2^53
		}
	case "real":
		return decimal(text)
	}
	return text
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func countOrNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
