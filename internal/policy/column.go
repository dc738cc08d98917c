package policy

import (
	"math/big"
	"strings"

	"dither/internal/exact"
	"dither/internal/value"
)

// Limits on the bounds of real columns. Up to largestReal, products stay within the range of a double. Cleaning
// keeps numbers down to smallestReal.
var (
	largestReal  = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100))
	smallestReal = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 60))
)

// identifies reports whether a column of type t can identify a unit, because equality of its values is exact.
func identifies(t value.Type) bool { return t == value.Integer || t == value.Text || t == value.Date }

func (r *reader) columns(f, table field) []*Column {
	if !f.need(table, "a table has at least one column") {
		return nil
	}
	before := len(r.errs)
	entries := f.entries()
	if len(entries) == 0 && len(r.errs) == before {
		f.fail("", "a table has at least one column")
	}
	names := map[string]string{}
	columns := make([]*Column, 0, len(entries))
	for _, e := range entries {
		c := r.column(e)
		if list := e.child("names"); list.present() {
			columns = append(columns, r.many(e, list, c, names)...)
			continue
		}
		e.unique(names)
		columns = append(columns, c)
	}
	return columns
}

func (r *reader) column(f field) *Column {
	c := &Column{Name: f.name(), Invalid: InvalidRefused}
	keys, ok := f.keys("names", "type", "description", "bounds", "values", "values_from", "nullable", "invalid",
		"trim", "case", "holdout", "holdout_price")
	if !ok {
		return c
	}
	c.Description = keys["description"].description()
	c.Nullable = keys["nullable"].boolean(false)
	c.Invalid = r.invalid(keys["invalid"], c.Nullable)
	keys["type"].need(f, "type: integer, real, text, boolean, date, timestamp or time")
	name, ok := keys["type"].text()
	if !ok {
		return c
	}
	if c.Type, ok = value.ParseType(name); !ok || c.Type == value.Interval {
		keys["type"].fail(typeHint(name), "unknown type %s", quote(name))
		return c
	}
	if keys["bounds"].present() && keys["values"].present() {
		keys["values"].failKey("the values of an integer column also give its bounds", "a column has bounds or "+
			"values, not both")
		return c
	}
	c.ValuesFrom = keys["values_from"].origin()
	if r.from == nil {
		r.from = map[*Column]field{}
	}
	r.from[c] = keys["values_from"]
	if c.ValuesFrom != nil && (keys["bounds"].present() || keys["values"].present()) {
		keys["values_from"].failKey("", "a column has bounds, values or values_from, not more than one of them")
	}
	c.Lower, c.Upper = r.bounds(keys["bounds"], c.Type)
	c.Values = r.values(keys["values"], c.Type)
	r.tidying(keys, c)
	r.holdout(keys, c)
	return c
}

func typeHint(name string) string {
	others := map[string]string{
		"int": "integer", "bigint": "integer", "smallint": "integer", "long": "integer", "float": "real",
		"double":  "real",
		"numeric": "real", "decimal": "real", "number": "real", "string": "text", "varchar": "text", "char": "text",
		"str":  "text",
		"bool": "boolean", "timestamptz": "timestamp", "datetime": "timestamp",
	}
	if t, ok := others[strings.ToLower(name)]; ok {
		return "did you mean " + t + "?"
	}
	return "one of integer, real, text, boolean, date, timestamp, time"
}

func (r *reader) invalid(f field, nullable bool) Invalid {
	s, ok := f.text()
	switch {
	case !ok || s == string(InvalidRefused):
		return InvalidRefused
	case s != string(InvalidIsNull):
		f.fail("", "must be refuse or null, found %s", quote(s))
	case !nullable:
		f.fail("add nullable: true", "invalid values cannot become NULL in a column that is not nullable")
	}
	return InvalidIsNull
}

func (r *reader) bounds(f field, t value.Type) (lower, upper *big.Rat) {
	if f.present() && (t == value.Text || t == value.Boolean) {
		f.failKey("declare its values", "a %s column has no bounds", t)
		return nil, nil
	}
	items, ok := f.list()
	if !ok {
		return nil, nil
	}
	if len(items) != 2 {
		f.fail("", "expected [lower, upper], found %d items", len(items))
		return nil, nil
	}
	lower, lowerOK := items[0].bound(t)
	upper, upperOK := items[1].bound(t)
	if !lowerOK || !upperOK {
		return nil, nil
	}
	if lower.Cmp(upper) > 0 {
		f.fail("", "bounds reversed: %s is above %s", clip(items[0].node.Value), clip(items[1].node.Value))
	}
	return lower, upper
}

// bound reads one bound of a column of numbers, dates or times.
func (f field) bound(t value.Type) (*big.Rat, bool) {
	s, ok := f.text()
	if !ok {
		return nil, false
	}
	if t.Whole() && t != value.Integer {
		v, err := value.Parse(t, s)
		if err != nil {
			f.fail(timesAreWritten[t], "not a %s: %s", t, quote(s))
			return nil, false
		}
		return new(big.Rat).SetInt64(v.Int), true
	}
	x, err := exact.ParseDecimal(s)
	if err != nil {
		f.fail("", "not a number: %s: %v", quote(s), err)
		return nil, false
	}
	size := new(big.Rat).Abs(x)
	switch {
	case t == value.Integer && !x.IsInt():
		f.fail("", "a bound of an integer column must be a whole number, found %s", quote(s))
	case t == value.Integer && !x.Num().IsInt64():
		f.fail("", "a bound of an integer column must fit 64 bits, found %s", quote(s))
	case t == value.Real && size.Cmp(largestReal) > 0:
		f.fail("", "a bound of a real column must be at most 2^100 in size, found %s", quote(s))
	case t == value.Real && size.Sign() > 0 && size.Cmp(smallestReal) < 0:
		f.fail("", "a bound of a real column must be 0 or at least 2^-60 in size, found %s", quote(s))
	default:
		return x, true
	}
	return nil, false
}

func (r *reader) values(f field, t value.Type) []value.Value {
	if !f.present() {
		return nil
	}
	if t == value.Real {
		f.failKey("", "values of a real column cannot be compared reliably; declare bounds")
		return nil
	}
	items, ok := f.list()
	if !ok {
		return nil
	}
	if len(items) == 0 || len(items) > MaxKeys {
		f.fail("", "must be between 1 and %d values, found %d", MaxKeys, len(items))
		return nil
	}
	out := make([]value.Value, 0, len(items))
	first := make(map[value.Value]int, len(items))
	for _, item := range items {
		v, ok := item.value(t)
		if !ok {
			continue
		}
		if line, again := first[v]; again {
			item.fail("", "the value %s occurs twice, first on line %d", quote(v.String()), line)
			continue
		}
		first[v] = item.node.Line
		out = append(out, v)
	}
	return out
}

// value reads one declared value. A boolean must be a plain word; any other type is parsed from the text.
func (f field) value(t value.Type) (value.Value, bool) {
	if t == value.Boolean {
		before := len(f.r.errs)
		b := f.boolean(false)
		return value.OfBool(b), len(f.r.errs) == before
	}
	s, ok := f.text()
	if !ok {
		return value.Value{}, false
	}
	v, err := value.Parse(t, s)
	if err != nil {
		f.fail("", "%s %s", quote(s), spelling(t))
		return value.Value{}, false
	}
	return v, true
}

// timesAreWritten has a hint for each type of time.
var timesAreWritten = map[value.Type]string{
	value.Date:      "dates are written 2026-12-31",
	value.Timestamp: "timestamps are written 2026-12-31 18:30:00, as clocks in the policy's zone show the time",
	value.Time:      "times are written 18:30:00",
}

func spelling(t value.Type) string {
	switch t {
	case value.Integer:
		return "is not a whole number of 64 bits"
	case value.Date, value.Timestamp, value.Time:
		return "is not a " + t.String() + "; " + timesAreWritten[t]
	default:
		return "is longer than a text may be"
	}
}
