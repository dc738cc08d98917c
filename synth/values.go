package synth

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dither/curator"
)

// Other stands in synthetic rows for all texts that are not among the known ones.
const Other = "other"

// MostValues bounds the known values of a text column.
const MostValues = 1000

// viewOf returns the view of a table without the units that it holds out. Some of its text columns have known values.
func viewOf(t *curator.Table, values map[string][]string) (*view, error) {
	out := &view{from: curator.SQLName(t.Name)}
	if held := heldOut(t); held != "" {
		out.where = "NOT " + curator.SQLName(held)
	}
	var sql map[string]string
	var err error
	if out.table, sql, err = withValues(t, values, ""); err != nil {
		return nil, err
	}
	out.sql = func(name string) string {
		if expression, ok := sql[name]; ok {
			return expression
		}
		return curator.SQLName(name)
	}
	return out, nil
}

// withValues returns a table whose text columns have known values, and the SQL of these columns, whose names have the prefix
// before them.
func withValues(t *curator.Table, values map[string][]string, prefix string) (out curator.Table, sql map[string]string, err error) {
	out = *t
	out.Columns = slices.Clone(t.Columns)
	sql = map[string]string{}
	for name, known := range values {
		at := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return c.Name == name })
		if at < 0 {
			return out, nil, usage("name columns of "+t.Name, "values: there is no column %q", name)
		}
		c := &out.Columns[at]
		switch {
		case c.Type != "text" || len(c.Values) > 0 || c.ValuesFrom != "":
			return out, nil, usage("leave it out", "values of %s: it is no text, or its values are declared", name)
		case name == t.Unit:
			return out, nil, usage("leave it out", "values of %s: it identifies persons", name)
		case len(known) > MostValues:
			return out, nil, usage("", "values of %s: there are at most %d, not %d", name, MostValues, len(known))
		}
		column := prefix + curator.SQLName(name)
		var cases []string
		for i, v := range known {
			if v == Other || slices.Contains(known[:i], v) || !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return out, nil, usage("leave it out", "values of %s: %q occurs twice, or stands for all others", name, v)
			}
			text := curator.SQLText(v)
			cases = append(cases, fmt.Sprintf("WHEN %s = %s THEN %s", column, text, text))
		}
		sql[name] = fmt.Sprintf("CASE %s WHEN %s IS NOT NULL THEN '%s' END", strings.Join(cases, " "), column, Other)
		if len(cases) == 0 {
			cases = []string{fmt.Sprintf("WHEN %s IS NULL THEN '%s'", column, Other)}
		}
		if !c.Nullable {
			sql[name] = fmt.Sprintf("CASE %s ELSE '%s' END", strings.Join(cases, " "), Other)
		}
		c.Values = append(slices.Clone(known), Other)
	}
	return out, sql, nil
}
