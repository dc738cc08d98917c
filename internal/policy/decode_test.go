package policy_test

import (
	"errors"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dither/internal/policy"
	"dither/internal/value"
	"dither/privacy"
)

// exactly compares what has unexported fields by value.
var exactly = cmp.Options{
	cmpopts.IgnoreUnexported(policy.Policy{}),
	cmp.Comparer(func(a, b privacy.Epsilon) bool { return a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b privacy.Delta) bool { return a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b privacy.Loss) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
}

func epsilon(t *testing.T, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func pure(t *testing.T, text string) privacy.Loss { return privacy.PureLoss(epsilon(t, text)) }

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func day(text string) value.Value {
	v, err := value.Parse(value.Date, text)
	if err != nil {
		panic(err)
	}
	return v
}

func TestLoadReadsEveryKey(t *testing.T) {
	got, err := policy.Load("testdata/all.yaml")
	if err != nil {
		t.Fatal(err)
	}
	texts := []value.Value{}
	for _, s := range []string{"north", "", "NO", "null", "~", "0x10"} {
		texts = append(texts, value.OfText(s))
	}
	want := &policy.Policy{
		Population: policy.Population{Name: "rand-hie", Neighbours: privacy.ChangeOne},
		Budget:     policy.Budget{Loss: pure(t, "3"), Epsilon: epsilon(t, "3")},
		Price:      policy.Price{Default: pure(t, "0.1"), Minimum: pure(t, "0.0003"), Maximum: pure(t, "1")},
		Tables: []*policy.Table{
			{
				Name: "Visits", Description: "Doctor visits: # one row a person-year",
				Source: policy.Source{
					Format: policy.CSV, Path: "data/randhie.csv.gz", File: "testdata/data/randhie.csv.gz",
					Local:   "data/randhie.csv.gz",
					Dialect: policy.Dialect{Delimiter: '\t', Quote: '\'', Null: "NA"},
				},
				Unit:         policy.Unit{Column: "person id", RowsPerUnit: 5, MaxGroups: 3, RowsPerGroup: 5},
				ExpectedRows: 20000,
				Columns: []*policy.Column{
					{Name: "mdvis", Description: "visits to a doctor", Type: value.Integer, Lower: rat("0"), Upper: rat("77")},
					{Name: "hlthg", Type: value.Integer, Values: []value.Value{value.OfInt(1), value.OfInt(0), value.OfInt(-3)}},
					{Name: "person id", Type: value.Text, Nullable: true, Invalid: policy.InvalidIsNull},
					{
						Name: "age", Type: value.Integer, Lower: rat("-1"), Upper: rat("115"), Nullable: true,
						Invalid: policy.InvalidIsNull,
					},
					{Name: "region", Type: value.Text, Values: texts},
					{Name: "smoker", Type: value.Boolean, Values: []value.Value{value.OfBool(true), value.OfBool(false)}},
					{
						Name: "born", Type: value.Date, Lower: new(big.Rat).SetInt64(day("1900-01-01").Int),
						Upper: new(big.Rat).SetInt64(day("2026-12-31").Int),
					},
					{Name: "seen", Type: value.Date, Values: []value.Value{day("2020-02-29")}},
					{Name: "income", Type: value.Real, Lower: rat("-0.1"), Upper: rat("12345678901234567890123.5")},
					{Name: "note", Type: value.Text},
				},
			},
			{
				Name: "years",
				Source: policy.Source{
					Format: policy.Parquet, Path: "/data/years.parquet", File: "/data/years.parquet",
					Local: "/data/years.parquet",
				},
				Unit:    policy.Unit{RowsPerUnit: 1, MaxGroups: 1, RowsPerGroup: 1, PersonRows: 12},
				Columns: []*policy.Column{{Name: "x", Type: value.Real}},
			},
			{
				Name: "regions", Public: true,
				Source: policy.Source{
					Format: policy.DuckDB, Path: "house.duckdb", File: "testdata/house.duckdb", Local: "house.duckdb",
					Table: "main_regions",
				},
				Columns: []*policy.Column{{Name: "region", Type: value.Text}},
			},
			{
				Name: "towns", Public: true,
				Source: policy.Source{
					Format: policy.DuckDB, Path: "house.duckdb", File: "testdata/house.duckdb",
					Local: "house.duckdb", Table: "towns",
				},
				Columns: []*policy.Column{{Name: "on", Type: value.Boolean}},
			},
		},
	}
	for _, table := range want.Tables {
		for _, c := range table.Columns {
			if c.Invalid == "" {
				c.Invalid = policy.InvalidRefused
			}
		}
	}
	if diff := cmp.Diff(want, got, exactly); diff != "" {
		t.Error(diff)
	}
	if got.Table("visits") != nil || got.Table("years").Column("x") == nil || got.Table("years").Column("X") != nil {
		t.Error("names are looked up exactly")
	}
}

const minimal = `version: 1
population: {name: p}
budget: {epsilon: 2}
tables:
  t:
    source: {csv: t.csv}
    unit: id
    rows_per_unit: 4
    columns:
      id: {type: integer}
`

func TestDefaults(t *testing.T) {
	p, err := policy.Decode([]byte(minimal), "home")
	if err != nil {
		t.Fatal(err)
	}
	if p.Population.Neighbours != privacy.AddRemove {
		t.Error("neighbours:", p.Population.Neighbours)
	}
	if p.Price.Default.String() != "ε = 0.1" || p.Price.Minimum.String() != "ε = 0.0002" ||
		p.Price.Maximum.String() != "ε = 2" {
		t.Error("price:", p.Price)
	}
	s := p.Tables[0].Source
	if s.File != filepath.Join("home", "t.csv") || s.Dialect != policy.DefaultDialect("t.csv") {
		t.Errorf("source: %+v", s)
	}
	if u := p.Tables[0].Unit; u.MaxGroups != 4 || u.IsRow() {
		t.Errorf("unit: %+v", u)
	}
	if d := policy.DefaultDialect("A.CSV.GZ"); !d.Gzip || !d.Header || d.Null != "" || d.Delimiter != ',' ||
		d.Quote != '"' {
		t.Errorf("dialect: %+v", d)
	}
	low := strings.Replace(minimal, "tables:", "price: {maximum: 0.05}\ntables:", 1)
	if p, err = policy.Decode([]byte(low), ""); err != nil || p.Price.Default.String() != "ε = 0.05" {
		t.Errorf("the default price is never above the maximum: %v, %v", p.Price, err)
	}
}

// A budget in (ε, δ) becomes ρ where it is declared, what selection keeps of δ apart; prices are ε, ρ or shares
// of it.
func TestBudgets(t *testing.T) {
	with := func(budget, price string) *policy.Policy {
		t.Helper()
		text := strings.Replace(minimal, "budget: {epsilon: 2}", "budget: "+budget+"\nprice: "+price, 1)
		p, err := policy.Decode([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := with("{epsilon: 1, delta: 1e-6}", "{default: 2%}")
	rho, selection := p.Budget.Loss.ZCDP()
	if f, _ := rho.Rat().Float64(); math.Abs(f-0.0243559703595) > 1e-12 || !selection.IsZero() ||
		p.Budget.Conversion.String() != "0.000001" {
		t.Errorf("(1, 1e-6): %+v", p.Budget)
	}
	if largest := rho.Pure().String(); !strings.HasPrefix(largest, "0.2207") {
		t.Errorf("no answer above ε = %s", largest)
	}
	if def, _ := p.Price.Default.ZCDP(); def.Rat().Cmp(rho.Share(1, 50).Rat()) != 0 {
		t.Errorf("2%% of the budget: %v", p.Price.Default)
	}
	p = with("{rho: 0.5, delta: 1e-5, selection_delta: 4e-6}", "{default: {rho: 0.01}, maximum: 0.5}")
	if p.Budget.Loss.String() != "ρ = 0.5, δ = 0.000004" || p.Budget.Conversion.String() != "0.000006" {
		t.Errorf("%+v", p.Budget)
	}
	if p.Price.Default.String() != "ρ = 0.01" || p.Price.Maximum.String() != "ρ = 0.125, δ = 0.000004" ||
		p.Price.Delta.String() != "0.0000002" || p.Price.Minimum.String() != "ρ = 0.00005" {
		t.Errorf("%+v", p.Price)
	}
	if p = with("{epsilon: 3}", "{default: 2%, maximum: 50%}"); p.Price.Default.String() != "ε = 0.06" ||
		p.Price.Maximum.String() != "ε = 1.5" {
		t.Errorf("%+v", p.Price)
	}
}

func TestDelimiters(t *testing.T) {
	for text, want := range map[string]rune{
		`","`: ',', `;`: ';', `"|"`: '|', `"\t"`: '\t', `'\t'`: '\t', `\t`: '\t', `tab`: '\t', `" "`: ' ', `"#"`: '#',
	} {
		source := strings.Replace(minimal, "{csv: t.csv}", "\n      csv: t.csv\n      delimiter: "+text, 1)
		p, err := policy.Decode([]byte(source), "")
		if err != nil || p.Tables[0].Source.Dialect.Delimiter != want {
			t.Errorf("delimiter: %s: %v", text, err)
		}
	}
}

// The reference's example is one that works.
func TestTheReferencesExample(t *testing.T) {
	_, text, _ := strings.Cut(string(mustRead(t, "../../docs/reference/policy.md")), "```yaml\n")
	text, _, found := strings.Cut(text, "```")
	if p, err := policy.Decode([]byte(text), ""); err != nil || !found || len(p.Tables) != 2 {
		t.Error(err)
	}
}

// A byte order mark and Windows line ends are an editor's doing, not a mistake.
func TestEditors(t *testing.T) {
	want, err := policy.Decode([]byte(minimal), "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := policy.Decode([]byte("\ufeff"+strings.ReplaceAll(minimal, "\n", "\r\n")), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, exactly); diff != "" {
		t.Error(diff)
	}
}

func TestLoadErrors(t *testing.T) {
	if _, err := policy.Load(filepath.Join(t.TempDir(), "policy.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("missing file:", err)
	}
	if _, err := policy.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error("folder:", err)
	}
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(minimal, "epsilon: 2", "epsilon: 0", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := policy.Load(file)
	want := file + `:3:19: budget.epsilon: not an ε: "0": it must be above 0 (write a decimal above 0, such as 0.5)`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var first *policy.Error
	if !errors.As(err, &first) || first.Line != 3 || first.Field != "budget.epsilon" {
		t.Errorf("errors.As: %+v", first)
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("#", policy.MaxBytes+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Load(file); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Error("large file:", err)
	}
}
