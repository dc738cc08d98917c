package policy_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dither/internal/policy"
	"dither/internal/value"
)

func sketch() policy.Sketch {
	return policy.Sketch{
		Table: "visits",
		Source: policy.Source{
			Format: policy.CSV, Path: "data/visits.csv",
			Dialect: policy.DefaultDialect("visits.csv"),
		},
		Unit: "person",
		Columns: []policy.SketchColumn{
			{Name: "person", Type: value.Integer},
			{Name: "yes", Type: value.Boolean},
			{Name: "no. of visits", Type: value.Integer},
			{Name: "income", Type: value.Real},
			{Name: "region", Type: value.Text},
			{Name: "born", Type: value.Date},
		},
	}
}

const drafted = `tables:
  visits:
    # description: ?
    source:
      csv: "data/visits.csv"
      delimiter: ","
      header: true
      null: ""   # an unquoted field with this text is empty
    # The unit is what is protected: all rows with the same value in this column, together.
    unit: person
    rows_per_unit: 1   # ? how many rows of one unit count in an answer, from public knowledge; further rows are left
                       #   out, and a larger number needs more noise
    # max_groups: 1    # ? the most groups of one answer in which a unit counts; rows_per_unit if not declared
    # expected_rows: ?   # the approximate number of rows, if it is public: explain can then state the error of averages
    # Questions may only compare a column without bounds or values. For more, declare from public knowledge
    #   bounds: [0, 115]          the smallest and largest value that make sense; a value beyond counts as the bound
    #   values: [north, south]    a complete list: these are the groups, and any other value counts as empty
    #   nullable: true            cells may be empty; remove it where every cell has a value by the source's design
    #   invalid: null             invalid numbers, dates, … become empty; otherwise sealing refuses them
    columns:
      person:
        type: integer
        nullable: true
      "yes":
        type: boolean
        nullable: true
      "no. of visits":
        type: integer
        nullable: true
        # bounds: [?, ?]   # or values: [?, ?]
      income:
        type: real
        nullable: true
        # bounds: [?, ?]
      region:
        type: text
        nullable: true
        # values: [?, ?]
      born:
        type: date
        nullable: true
        # bounds: [?, ?]
`

func TestDraft(t *testing.T) {
	text, err := policy.Draft(sketch())
	if err != nil {
		t.Fatal(err)
	}
	if _, tables, _ := strings.Cut(string(text), "\n\n"+"tables:"); "tables:"+tables != drafted {
		t.Error(cmp.Diff(drafted, "tables:"+tables))
	}
	p := decode(t, string(text))
	if p.Population.Name != "visits" || p.Table("visits").Unit.RowsPerUnit != 1 ||
		p.Table("visits").Column("yes") == nil {
		t.Errorf("%+v", p)
	}
	for line := range strings.Lines(string(text)) {
		if len([]rune(line)) > 121 {
			t.Errorf("a long line: %s", line)
		}
	}
}

// The bounds and values that a draft holds are questions, for any sketch.
func TestDraftDeclaresNothing(t *testing.T) {
	row := sketch()
	row.Unit = ""
	for _, sketches := range [][]policy.Sketch{{sketch()}, {row}, nil} {
		text, err := policy.Draft(sketches...)
		if err != nil {
			t.Fatal(err)
		}
		p := decode(t, string(text))
		if len(p.Tables) != 1 || p.Tables[0].ExpectedRows != 0 || p.Tables[0].Unit.PersonRows != 0 {
			t.Errorf("%+v", p)
		}
		for _, c := range p.Tables[0].Columns {
			if c.Lower != nil || c.Values != nil || !c.Nullable {
				t.Errorf("%+v", c)
			}
		}
	}
}

func TestDraftOfOtherSources(t *testing.T) {
	s := sketch()
	s.Columns[0].Type = value.Real // a unit must be told apart exactly
	s.Source = policy.Source{
		Format: policy.CSV, Path: "v.csv.gz",
		Dialect: policy.Dialect{Delimiter: '\t', Quote: '\'', Null: `N"A\`, Gzip: false},
	}
	text, err := policy.Draft(s)
	if err != nil {
		t.Fatal(err)
	}
	table := decode(t, string(text)).Tables[0]
	if table.Source.Dialect != s.Source.Dialect || table.Column("person").Type != value.Text {
		t.Errorf("%+v\n%s", table.Source, text)
	}
	s.Source = policy.Source{Format: policy.DuckDB, Path: "/srv/h: 1.duckdb", Table: "Main Visits"}
	if text, err = policy.Draft(s); err != nil {
		t.Fatal(err)
	}
	if got := decode(t, string(text)).Tables[0].Source; got.Path != s.Source.Path || got.Table != s.Source.Table {
		t.Errorf("%+v", got)
	}
}

func TestDraftRefuses(t *testing.T) {
	for name, change := range map[string]func(*policy.Sketch){
		"no columns":    func(s *policy.Sketch) { s.Columns = nil },
		"empty name":    func(s *policy.Sketch) { s.Columns[1].Name = "" },
		"long name":     func(s *policy.Sketch) { s.Columns[1].Name = strings.Repeat("x", 64) },
		"line end":      func(s *policy.Sketch) { s.Columns[1].Name = "a\nb" },
		"twice":         func(s *policy.Sketch) { s.Columns[1].Name = "INCOME" },
		"not UTF-8":     func(s *policy.Sketch) { s.Columns[1].Name = "na\xefve" },
		"no such unit":  func(s *policy.Sketch) { s.Unit = "people" },
		"no path":       func(s *policy.Sketch) { s.Source.Path = "" },
		"no such type":  func(s *policy.Sketch) { s.Columns[1].Type = 0 },
		"no such table": func(s *policy.Sketch) { s.Table = "a\x00b" },
	} {
		s := sketch()
		change(&s)
		if text, err := policy.Draft(s); err == nil || text != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A draft is refused, or decodes to the sketch's names exactly, however hostile the file that they are from.
func TestDraftHoldsAnyName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sketch()
		s.Table = rapid.OneOf(rapid.String(), rapid.StringMatching(`[-~ :#\[\]{},&*!|>'"%@a-z0]{1,8}`)).Draw(t, "table")
		s.Unit = ""
		s.Source.Path = rapid.String().Draw(t, "path")
		for i := range s.Columns {
			s.Columns[i].Name = rapid.OneOf(rapid.String(),
				rapid.StringMatching(`[-~ :#\[\]{},&*!|>'"%@?a-z0]{1,8}`)).Draw(t, "column")
		}
		if s.Table == "" {
			s.Table = "t"
		}
		text, err := policy.Draft(s)
		if err != nil {
			var wrong policy.Errors
			if !errors.As(err, &wrong) || strings.Contains(err.Error(), "YAML") {
				t.Fatal(err)
			}
			return
		}
		p, err := policy.Decode(text, "")
		if err != nil || p.Tables[0].Name != s.Table || p.Tables[0].Source.Path != s.Source.Path {
			t.Fatalf("%v\n%s", err, text)
		}
		for i, c := range p.Tables[0].Columns {
			if c.Name != s.Columns[i].Name {
				t.Fatalf("%q became %q", s.Columns[i].Name, c.Name)
			}
		}
	})
}

func TestGuessTypes(t *testing.T) {
	columns := map[string]struct {
		fields string
		want   value.Type
	}{
		"integers":             {"1 -2 0", value.Integer},
		"integers with gaps":   {"1 _ 3", value.Integer},
		"too large an integer": {"1 9223372036854775808", value.Real},
		"reals":                {"1 2.5 -1e3 0.5", value.Real},
		"reals with NaN":       {"1 NaN inf", value.Real},
		"a text of Nan":        {"Nan inf", value.Text},
		"dates":                {"2024-02-29 _ 1999-12-31", value.Date},
		"no such date":         {"2024-02-29 2023-02-29", value.Text},
		"booleans":             {"true FALSE", value.Boolean},
		"0 and 1":              {"0 1 1", value.Integer},
		"letters":              {"t f t", value.Text},
		"booleans and digits":  {"true 0", value.Text},
		"codes":                {"01234 99999", value.Text},
		"a leading plus":       {"+1 2", value.Text},
		"codes with a point":   {"00.5 1.5", value.Text},
		"texts":                {"a 1", value.Text},
		"nothing":              {"_ _", value.Text},
		"hexadecimal":          {"0x10 0x11", value.Text},
		"underscores":          {"1_000", value.Text},
	}
	for name, c := range columns {
		fields := strings.Fields(c.fields)
		i := -1
		got := policy.GuessTypes([]string{"c"}, func() ([]string, error) {
			if i++; i == len(fields) {
				return nil, io.EOF
			}
			return []string{strings.TrimSuffix(fields[i], "_")}, nil
		})
		if !slices.Equal(got, []value.Type{c.want}) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestGuessTypesReadsLittle(t *testing.T) {
	read := 0
	got := policy.GuessTypes([]string{"a", "b"}, func() ([]string, error) {
		if read++; read > 1000 {
			return []string{"x"}, nil
		}
		return []string{"1", "2", "a third"}[:1+read%3], nil
	})
	if read != 1000 || !slices.Equal(got, []value.Type{value.Integer, value.Integer}) {
		t.Error(read, got)
	}
}
