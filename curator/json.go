package curator

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// object writes a JSON object whose members keep their order.
type object struct {
	text []byte
	err  error
}

func (o *object) add(name string, v any) {
	if o.err != nil {
		return
	}
	key, err := marshal(name)
	if err != nil {
		o.err = err
		return
	}
	val, err := marshal(v)
	if err != nil {
		o.err = err
		return
	}
	separator := ","
	if len(o.text) == 0 {
		separator = "{"
	}
	o.text = append(append(append(append(o.text, separator...), key...), ':'), val...)
}

// marshal is json.Marshal that leaves <, > and & as they are: questions are full of them, and no browser reads this raw.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (o *object) bytes() ([]byte, error) {
	if len(o.text) == 0 {
		o.text = []byte("{")
	}
	return append(o.text, '}'), o.err
}

// maxSafe is the largest integer that every JSON reader keeps exactly.
const maxSafe = 1 << 53

// MarshalJSON writes a number; an integer beyond 2^53 as a string, so that no reader rounds it.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.Text != nil {
		return marshal(*n.Text)
	}
	if n.Whole == nil {
		return json.Marshal(unsigned(n.Real))
	}
	text := n.Whole.String()
	if math.Abs(n.Real) > maxSafe {
		text = strconv.Quote(text)
	}
	return []byte(text), nil
}

// String writes the number in full.
func (n Number) String() string {
	if n.Text != nil {
		return *n.Text
	}
	if n.Whole != nil {
		return n.Whole.String()
	}
	return exact.FormatFloat(n.Real, 'g', -1)
}

// unsigned takes the sign from a zero.
func unsigned(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// MarshalJSON writes {"epsilon", "delta", "rho"}: rho is null where the loss is pure, epsilon where none is told. An epsilon
// that is not proved at every moment is "epsilon_if_fixed" instead.
func (l Loss) MarshalJSON() ([]byte, error) {
	var o object
	if l.IfFixed {
		o.add("epsilon", nil)
	} else {
		o.add("epsilon", decimalOrNull(l.Epsilon))
	}
	o.add("delta", decimalOrNull(l.Delta))
	o.add("rho", decimalOrNull(l.Rho))
	if l.IfFixed {
		o.add("epsilon_if_fixed", decimalOrNull(l.Epsilon))
	}
	return o.bytes()
}

func decimalOrNull(text string) any {
	if text == "" {
		return nil
	}
	return decimal(text)
}

// decimal is an exact decimal as a JSON number, a fraction as its nearest double.
func decimal(text string) any {
	if !strings.Contains(text, "/") {
		return json.Number(text)
	}
	p, q, _ := strings.Cut(text, "/")
	x, _ := strconv.ParseFloat(p, 64)
	y, _ := strconv.ParseFloat(q, 64)
	return x / y
}

// share adds a share of the price: ε where that is pure, else ρ.
func (o *object) share(l Loss) {
	if l.Rho != "" {
		o.add("rho", decimal(l.Rho))
		return
	}
	o.add("epsilon", decimal(l.Epsilon))
}

// orNull makes nil of what is no number.
func orNull(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// MarshalJSON writes the release as docs/reference/json.md says.
func (r *Release) MarshalJSON() ([]byte, error) {
	var o object
	o.add("release", r.ID)
	o.add("sql", r.SQL)
	o.add("confidence", decimal(r.Confidence))
	o.add("columns", r.Columns)
	rows := make([]json.RawMessage, len(r.Rows))
	for i, row := range r.Rows {
		b, err := r.row(row)
		if err != nil {
			return nil, err
		}
		rows[i] = b
	}
	if r.Groupings != nil {
		o.add("groupings", r.Groupings)
	}
	o.add("rows", rows)
	if r.RowsBound != nil {
		o.add("rows_bound", r.RowsBound)
	}
	o.add("price", r.Price)
	o.add("remaining", r.Remaining)
	o.add("replayed", r.Replayed)
	if r.From != nil {
		o.add("from", r.From)
	}
	if r.Whole {
		o.add("whole", true)
	}
	return o.bytes()
}

func (r *Release) row(row Row) (json.RawMessage, error) {
	var o object
	for i, cell := range row {
		if r.Columns[i].Kind == Key {
			o.add(r.Columns[i].Name, keyJSON(cell.Key))
			continue
		}
		o.add(r.Columns[i].Name, cell.Estimate)
	}
	return o.bytes()
}

func keyJSON(key any) any {
	if n, ok := key.(int64); ok && (n > maxSafe || n < -maxSafe) {
		return strconv.FormatInt(n, 10)
	}
	return key
}

// MarshalJSON writes {"value", "stddev", "low", "high"}, and "parts" where there are any.
func (e Estimate) MarshalJSON() ([]byte, error) {
	var o object
	o.add("value", e.Value)
	o.add("stddev", e.StdDev)
	o.add("low", e.Low)
	o.add("high", e.High)
	if len(e.Parts) > 0 {
		var parts object
		for _, p := range e.Parts {
			parts.add(p.Name, p.Estimate)
		}
		b, err := parts.bytes()
		if err != nil {
			return nil, err
		}
		o.add("parts", json.RawMessage(b))
	}
	return o.bytes()
}

// orderMembers writes what a quantile's or a mode's column has.
func (c Column) orderMembers(o *object) {
	if c.RankError != nil {
		o.add("rank_error", orNull(*c.RankError))
		o.add("interval_rows", orNull(*c.IntervalRows))
	}
	if c.Shortfall != nil {
		o.add("shortfall", orNull(*c.Shortfall))
	}
}

// MarshalJSON writes the column; a key has a name and a kind only.
func (c Column) MarshalJSON() ([]byte, error) {
	var o object
	o.add("name", c.Name)
	o.add("kind", c.Kind)
	if c.Kind == Key {
		return o.bytes()
	}
	o.add("mechanism", c.Mechanism)
	o.add("scale", c.Scale)
	o.add("sensitivity", c.Sensitivity)
	if c.Scale != nil || foretoldInRows(c) {
		o.share(c.Share)
	}
	c.orderMembers(&o)
	if len(c.Parts) > 0 {
		o.add("parts", c.Parts)
	}
	if c.Bounds != nil {
		o.add("bounds", c.Bounds)
	}
	if c.Expected != nil {
		o.add("expected", c.Expected)
	}
	return o.bytes()
}

// MarshalJSON writes the bounds.
func (b Bounds) MarshalJSON() ([]byte, error) {
	var o object
	o.add("low", b.Low)
	o.add("high", b.High)
	o.share(b.Share)
	return o.bytes()
}

// MarshalJSON writes the part.
func (p Part) MarshalJSON() ([]byte, error) {
	var o object
	o.add("name", p.Name)
	o.add("mechanism", p.Mechanism)
	o.add("scale", p.Scale)
	o.add("sensitivity", p.Sensitivity)
	o.share(p.Share)
	o.add("centre", p.Centre)
	return o.bytes()
}

// MarshalJSON writes what is known beforehand, null for the rest.
func (e Expected) MarshalJSON() ([]byte, error) {
	var o object
	o.add("stddev", orNull(e.StdDev))
	o.add("half_width", orNull(e.HalfWidth))
	if !math.IsNaN(e.StdDevTimesN) {
		o.add("stddev_times_n", e.StdDevTimesN)
		o.add("half_width_times_n", e.HalfWidthTimesN)
		if e.N > 0 {
			o.add("n", e.N)
		}
	}
	return o.bytes()
}

// MarshalJSON writes what a release would have but for its rows, and what is expected.
func (e *Explanation) MarshalJSON() ([]byte, error) {
	var o object
	o.add("sql", e.SQL)
	o.add("confidence", decimal(e.Confidence))
	o.add("columns", e.Columns)
	if e.Groupings != nil {
		o.add("groupings", e.Groupings)
	}
	o.add("cells", orNone(e.Cells))
	if e.Selection != nil {
		o.add("selection", e.Selection)
	}
	o.add("l2_sensitivity", e.L2)
	o.add("sensitivity", e.Sensitivity)
	o.add("price", e.Price)
	o.add("remaining", e.Remaining)
	o.add("affordable", e.Affordable)
	o.add("largest_epsilon", decimal(e.Largest))
	if e.Charged != nil {
		o.add("charged", e.Charged)
	}
	o.add("replayed", e.Replayed)
	if e.Reuse != nil {
		o.add("reuse", e.Reuse)
	}
	o.add("unit", e.Unit)
	if e.RowsBound != nil {
		o.add("rows_bound", e.RowsBound)
	}
	o.add("work", e.Work)
	o.add("notes", e.Notes)
	return o.bytes()
}

// MarshalJSON writes the bound on a unit's work.
func (w Work) MarshalJSON() ([]byte, error) {
	var o object
	o.add("steps", w.Steps)
	o.add("limit", w.Limit)
	o.add("rows", w.Rows)
	o.add("bounded", !w.Unbounded)
	return o.bytes()
}

// MarshalJSON writes the unit.
func (u Unit) MarshalJSON() ([]byte, error) {
	var o object
	name := u.Column
	if name == "" {
		name = "row"
	}
	o.add("column", name)
	o.add("neighbours", u.Neighbours)
	o.add("max_rows", orNone(u.MaxRows))
	o.add("max_groups", orNone(u.MaxGroups))
	o.add("max_rows_per_group", orNone(u.MaxRowsPerGroup))
	if u.PersonRows > 0 {
		o.add("person_rows", u.PersonRows)
		o.add("person", u.Person)
	}
	if u.GroupSize > 0 {
		o.add("group_size", u.GroupSize)
		o.add("group", u.Group)
		o.add("change", u.Change)
	}
	return o.bytes()
}

// MarshalJSON writes {"error": {…}}.
func (e *Error) MarshalJSON() ([]byte, error) {
	var in object
	in.add("code", e.Code)
	in.add("message", e.Message)
	in.add("hint", e.Hint)
	in.add("line", orNone(e.Line))
	in.add("column", orNone(e.Column))
	in.add("retry", e.Retry)
	if e.Charged {
		in.add("charged", true)
	}
	inner, err := in.bytes()
	if err != nil {
		return nil, err
	}
	var o object
	o.add("error", json.RawMessage(inner))
	return o.bytes()
}

func orNone[T int | int64](n T) any {
	if n == 0 {
		return nil
	}
	return n
}
