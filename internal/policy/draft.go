package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"dither/internal/value"
)

// Sketch describes a table for Draft: names and types only. It contains no bounds, values, counts or nullability,
// because the owner must declare these from public knowledge.
type Sketch struct {
	Table   string
	Source  Source         // Format and Path; Table and Dialect if they differ from the defaults; a server's name
	Unit    string         // the column that identifies a person; "" if each row is a unit
	Columns []SketchColumn // at least one
}

// SketchColumn is a column's name and type, as the file's header and GuessTypes give them.
type SketchColumn struct {
	Name string
	Type value.Type
}

// Draft returns a policy with the given tables for the owner to complete, or with an example table if there are none.
// It contains names and types, and comments that ask for bounds and values. Every column is nullable: whether a NULL is
// there would be a fact read off the rows. Comments also name the columns that may identify a person or another
// table's rows, judged by their names alone. Decode accepts the text unchanged, so the home works at once, except for
// arithmetic on the columns. "policy check" lists what is missing. If a name is not allowed in a policy (empty, over 63
// bytes, or repeated except for case), Draft returns an error.
func Draft(tables ...Sketch) ([]byte, error) {
	if len(tables) == 0 {
		tables = []Sketch{template}
	}
	var b strings.Builder
	fmt.Fprintf(&b, draftHead, scalar(populationName(tables[0].Table)))
	for i, s := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		s.writeTable(&b, tables)
	}
	text := []byte(b.String())
	p, err := Decode(text, ".")
	for i, s := range tables {
		if err == nil && !s.heldBy(p.Tables[i]) {
			err = errors.New("a name or the path is not UTF-8")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("a policy cannot have these names: %w", err)
	}
	return text, nil
}

// heldBy reports whether a decoded draft has exactly the names and the path of the sketch.
func (s Sketch) heldBy(t *Table) bool {
	return t.Name == s.Table && (s.Source.Live() || t.Source.Path == s.Source.Path) && t.Unit.Column == s.Unit &&
		slices.EqualFunc(t.Columns, s.Columns, func(a *Column, b SketchColumn) bool { return a.Name == b.Name })
}

// template is the sketch of an example table, for a draft without a source file.
var template = Sketch{
	Table:  "people",
	Source: Source{Format: CSV, Path: "people.csv", Dialect: DefaultDialect("people.csv")},
	Columns: []SketchColumn{
		{"region", value.Text},
		{"age", value.Integer},
		{"income", value.Real},
		{"smoker", value.Boolean},
		{"joined", value.Date},
	},
}

const draftHead = `# This draft states what analysts may ask about these data, and at what price. ` +
	`Answer the lines with a ?, then run
#     dither policy check
# Do not take any number or value from the rows: the policy, and its effect on answers, would reveal them.

version: 1

population:
  name: %s   # the people (or rows) that the budget protects; one name for all their files
  neighbours: add-remove   # the promise: answers hide whether any one unit is in the data

budget:
  epsilon: 1   # what all answers may reveal together, ever. 1 is strict, 3 usual, beyond 10 little protection

price:
  default: 0.05   # ε of an answer if its question names none; half the price means twice the noise
  maximum: 0.5    # the most that one answer may cost

# The time that an answer takes may reveal rows to an analyst who cannot read the files. With this key, every answer
# leaves at a time that is fixed when its question arrives. This command prints the line for this machine:
#     dither audit timing --calibrate
# answer_delay: {quantum: 1s, floor: 500ms, factor: ?, rows: ?}

tables:
`

const draftUnit = `    # The unit is what is protected: all rows with the same value in this column, together.
    unit: %s
    rows_per_unit: 1   # ? how many rows of one unit count in an answer, from public knowledge; further rows are left
                       #   out, and a larger number needs more noise
    # max_groups: 1    # ? the most groups of one answer in which a unit counts; rows_per_unit if not declared
`

const draftRow = `    # The unit is what is protected, here each row. That is right if every person has one row. ` +
	`If a person has several,
    # name the column that identifies the person (unit: person_id) and rows_per_unit, or declare person_rows
    unit: row
    # person_rows: ?     # the most rows of one person: explain then states the loss of a person too
`

const draftColumns = `    # expected_rows: ?   # the approximate number of rows, if it is public: ` +
	`explain can then state the error of averages
    # Questions may only compare a column without bounds or values. For more, declare from public knowledge
    #   bounds: [0, 115]          the smallest and largest value that make sense; a value beyond counts as the bound
    #   values: [north, south]    a complete list: these are the groups, and any other value counts as empty
    #   nullable: true            cells may be empty; remove it where every cell has a value by the source's design
    #   invalid: null             invalid numbers, dates, … become empty; otherwise sealing refuses them
    columns:
`

// writeTable writes a table's entry. The sketches of all tables decide which references are proposed.
func (s Sketch) writeTable(b *strings.Builder, all []Sketch) {
	fmt.Fprintf(b, "  %s:\n    # description: ?\n    source:\n", scalar(s.Table))
	s.writeSource(b)
	if s.Unit != "" {
		fmt.Fprintf(b, draftUnit, scalar(s.Unit))
	} else {
		b.WriteString(draftRow)
		s.proposeUnit(b)
	}
	s.proposeReferences(b, all)
	b.WriteString(draftColumns)
	for _, c := range s.Columns {
		if c.Name == s.Unit && !identifies(c.Type) {
			c.Type = value.Text
		}
		fmt.Fprintf(b, "      %s:\n        type: %s\n        nullable: true\n", scalar(c.Name), c.Type)
		switch {
		case c.Name == s.Unit:
		case c.Type == value.Text:
			b.WriteString("        # values: [?, ?]\n")
		case c.Type == value.Integer:
			b.WriteString("        # bounds: [?, ?]   # or values: [?, ?]\n")
		case c.Type == value.Real, c.Type.Whole():
			b.WriteString("        # bounds: [?, ?]\n")
		}
	}
}

func (s Sketch) writeSource(b *strings.Builder) {
	switch src := s.Source; {
	case src.Format == Postgres && src.Service != "":
		fmt.Fprintf(b, "      postgres: {service: %s}\n      table: %s\n", src.Service, scalar(qualifiedText(src)))
		return
	case src.Format == Postgres:
		fmt.Fprintf(b, "      postgres: {url_env: %s}\n      table: %s\n", src.URLEnv, scalar(qualifiedText(src)))
		return
	}
	fmt.Fprintf(b, "      %s: %s\n", s.Source.Format, scalar(s.Source.Path))
	switch {
	case s.Source.Format == DuckDB && s.Source.Table != "" && s.Source.Table != s.Table:
		fmt.Fprintf(b, "      table: %s\n", scalar(s.Source.Table))
	case s.Source.Format == XLSX && s.Source.Table != "":
		fmt.Fprintf(b, "      sheet: %s\n", scalar(s.Source.Table))
	}
	if s.Source.Format != CSV {
		return
	}
	d, usual := s.Source.Dialect, DefaultDialect(s.Source.Path)
	if d.Delimiter == 0 {
		d = usual
	}
	fmt.Fprintf(b, "      delimiter: %s\n      header: %t\n", scalar(string(d.Delimiter)), d.Header)
	if d.Quote != usual.Quote {
		fmt.Fprintf(b, "      quote: %s\n", scalar(string(d.Quote)))
	}
	fmt.Fprintf(b, "      null: %s   # an unquoted field with this text is empty\n", scalar(d.Null))
	if d.Spelling != nil && d.Spelling.Encoding != "" {
		fmt.Fprintf(b, "      encoding: %s\n", d.Spelling.Encoding)
	}
	if d.Gzip != usual.Gzip {
		fmt.Fprintf(b, "      gzip: %t\n", d.Gzip)
	}
}

// populationName returns a valid name of a population, made from a table's name.
func populationName(table string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, table)
	if !identifier.MatchString(name) {
		name = "_" + strings.TrimLeft(name, "-")
	}
	return name[:min(len(name), maxNameBytes)]
}

// scalar returns a text as a YAML scalar that Decode reads back exactly. It is plain if every YAML reader takes it
// as text, otherwise in double quotes.
func scalar(s string) string {
	if identifier.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < 0x80 && unicode.IsPrint(c), c < 0xFFFE && unicode.IsGraphic(c):
			b.WriteRune(c)
		case c <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			fmt.Fprintf(&b, `\U%08X`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
