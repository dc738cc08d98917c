package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/exact"
	"dither/internal/value"

	"go.yaml.in/yaml/v3"
)

// Redeclared are new declarations of one table that its owner may change freely. A number that is 0 stays as it is.
type Redeclared struct {
	Table                  string
	RowsPerUnit, MaxGroups int64
	Bounds                 map[string][2]string // by column
}

// edit replaces runes of one line of a text: from a column on, so many of them. Lines and columns count from 1.
type edit struct {
	line, column, length int
	text                 string
}

// Line is a line of a policy that changes, with its number in the present text.
type Line struct {
	Number int
	Old    string
	New    []string
}

// Redeclare writes declarations into the text of a policy. It returns the new text, and the lines that change. Nothing
// else in the text changes. The text must be a valid policy in the folder dir.
func Redeclare(text []byte, dir string, changes []Redeclared) ([]byte, []Line, error) {
	root := new(reader).parse(text)
	var edits []edit
	for _, c := range changes {
		table := entryOf(root, "tables", c.Table)
		for _, n := range []struct {
			key string
			n   int64
		}{{"rows_per_unit", c.RowsPerUnit}, {"max_groups", c.MaxGroups}} {
			if n.n == 0 {
				continue
			}
			e, err := setNumber(table, n.key, n.n)
			if err != nil {
				return nil, nil, fmt.Errorf("table %s: %w", quote(c.Table), err)
			}
			edits = append(edits, e)
		}
		edits = append(edits, within(table, c)...)
		for column, bounds := range c.Bounds {
			e, err := setBounds(entryOf(table, "columns", column), bounds)
			if err != nil {
				return nil, nil, fmt.Errorf("column %s of table %s: %w", quote(column), quote(c.Table), err)
			}
			edits = append(edits, e...)
		}
	}
	out, lines := applied(string(text), edits)
	p, err := Decode([]byte(out), dir)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range changes {
		if err := p.declares(c); err != nil {
			return nil, nil, err
		}
	}
	return []byte(out), lines, nil
}

// declares returns an error unless the policy declares what c says.
func (p *Policy) declares(c Redeclared) error {
	t := p.Table(c.Table)
	ok := t != nil && (c.RowsPerUnit == 0 || t.Unit.RowsPerUnit == c.RowsPerUnit) &&
		(c.MaxGroups == 0 || t.Unit.MaxGroups == c.MaxGroups)
	for name, b := range c.Bounds {
		column := t.Column(name)
		ok = ok && column != nil && column.Lower != nil
		if !ok || column.Type != value.Integer && column.Type != value.Real {
			continue
		}
		low, err := exact.ParseDecimal(b[0])
		high, wrong := exact.ParseDecimal(b[1])
		ok = err == nil && wrong == nil && column.Lower.Cmp(low) == 0 && column.Upper.Cmp(high) == 0
	}
	if !ok {
		return fmt.Errorf("the declarations of table %s cannot be edited: write them yourself", quote(c.Table))
	}
	return nil
}

// token returns the edit that replaces a scalar.
func token(n *yaml.Node, text string) edit {
	length := len([]rune(n.Value))
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		length += 2
	}
	return edit{n.Line, n.Column, length, text}
}

// after returns the edit that adds an entry to a mapping, after the value of one of its scalar entries.
func after(mapping, key, value *yaml.Node, added string) edit {
	e := token(value, "")
	e.column, e.length = e.column+e.length, 0
	if e.text = ", " + added; mapping.Style&yaml.FlowStyle == 0 {
		e.text = "\n" + strings.Repeat(" ", key.Column-1) + added
	}
	return e
}

// keyOf returns the node of a key of a mapping.
func keyOf(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i]
		}
	}
	return nil
}

// setNumber returns the edit that sets a number of a table.
func setNumber(table *yaml.Node, name string, n int64) (edit, error) {
	text := strconv.FormatInt(n, 10)
	if now := entryOf(table, name); now != nil {
		return token(now, text), nil
	}
	beside := entryOf(table, "rows_per_unit")
	if beside == nil || beside.Kind != yaml.ScalarNode {
		return edit{}, fmt.Errorf("it has no rows_per_unit")
	}
	return after(table, keyOf(table, "rows_per_unit"), beside, name+": "+text), nil
}

// within returns the edits that keep the limits on groups within a new, smaller rows_per_unit.
func within(table *yaml.Node, c Redeclared) (out []edit) {
	if c.RowsPerUnit == 0 {
		return nil
	}
	for _, name := range []string{"max_groups", "max_rows_per_group"} {
		now := entryOf(table, name)
		if now == nil || name == "max_groups" && c.MaxGroups > 0 {
			continue
		}
		if n, err := strconv.ParseInt(now.Value, 10, 64); err == nil && n > c.RowsPerUnit {
			out = append(out, token(now, strconv.FormatInt(c.RowsPerUnit, 10)))
		}
	}
	return out
}

// setBounds returns the edits that set the bounds of a column.
func setBounds(column *yaml.Node, bounds [2]string) ([]edit, error) {
	if column == nil || column.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("the policy declares it by a pattern")
	}
	if now := entryOf(column, "bounds"); now != nil {
		if now.Kind != yaml.SequenceNode || len(now.Content) != 2 {
			return nil, fmt.Errorf("its bounds are not a list of two")
		}
		return []edit{token(now.Content[0], boundText(bounds[0])), token(now.Content[1], boundText(bounds[1]))}, nil
	}
	kind := entryOf(column, "type")
	if kind == nil {
		return nil, fmt.Errorf("it has no type")
	}
	return []edit{after(column, keyOf(column, "type"), kind, "bounds: ["+boundText(bounds[0])+", "+boundText(bounds[1])+"]")}, nil
}

// boundText quotes a bound that YAML would read as something else, such as a timestamp with its colons.
func boundText(text string) string {
	if strings.ContainsAny(text, ": ") {
		return strconv.Quote(text)
	}
	return text
}

// applied carries out edits from the last one to the first. It returns the new text, and the lines that changed.
func applied(text string, edits []edit) (string, []Line) {
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.line != b.line {
			return b.line - a.line
		}
		return b.column - a.column
	})
	lines := strings.SplitAfter(text, "\n")
	var changed []Line
	for _, e := range edits {
		old := lines[e.line-1]
		runes := []rune(old)
		if n := len(changed); n == 0 || changed[n-1].Number != e.line {
			changed = append(changed, Line{Number: e.line, Old: strings.TrimRight(old, "\r\n")})
		}
		lines[e.line-1] = string(runes[:e.column-1]) + e.text + string(runes[e.column-1+e.length:])
		changed[len(changed)-1].New = strings.Split(strings.TrimRight(lines[e.line-1], "\r\n"), "\n")
	}
	slices.Reverse(changed)
	return strings.Join(lines, ""), changed
}

// Scalar returns a text as a policy writes it, in quotes if needed.
func Scalar(text string) string { return scalar(text) }
