package formula

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dither/curator"

	"pgregory.net/rapid"
)

var designTable = curator.Table{Name: "t", Columns: []curator.TableColumn{
	{Name: "y", Type: "real", Lower: "-10", Upper: "30"},
	{Name: "a", Type: "integer", Lower: "3", Upper: "8"},
	{Name: "b", Type: "real", Lower: "-0.5", Upper: "0.25"},
	{Name: "c", Type: "real", Lower: "0", Upper: "1e6"},
	{Name: "g", Type: "text", Values: []string{"u", "v", "w"}},
	{Name: "h", Type: "integer", Values: []string{"0", "1", "2", "5"}},
	{Name: "s", Type: "boolean"},
	{Name: "d", Type: "date", Lower: "2020-01-01", Upper: "2020-12-31"},
	{Name: "free", Type: "real"},
	{Name: "fixed", Type: "real", Lower: "2", Upper: "2"},
	{Name: "loose", Type: "text"},
	{Name: "single", Type: "text", Values: []string{"only"}},
	{Name: "Odd Name", Type: "text", Values: []string{"it's", "not"}},
}}

func designOf(t testing.TB, formula string) *Design {
	t.Helper()
	f, err := Parse(formula)
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Design(designTable)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The columns are those of R's model.matrix.
func TestDesigns(t *testing.T) {
	for formula, want := range map[string]string{
		"y ~ a":                 "(Intercept) a",
		"y ~ 1":                 "(Intercept)",
		"y ~ a - 1":             "a",
		"y ~ g":                 "(Intercept) g[v] g[w]",
		"y ~ 0 + g":             "g[u] g[v] g[w]",
		"y ~ 0 + a + g + s":     "a g[u] g[v] g[w] s[true]",
		"y ~ a + g + a:g":       "(Intercept) a g[v] g[w] a:g[v] a:g[w]",
		"y ~ a:g":               "(Intercept) a:g[u] a:g[v] a:g[w]",
		"y ~ s*g":               "(Intercept) s[true] g[v] g[w] s[true]:g[v] s[true]:g[w]",
		"y ~ h":                 "(Intercept) h",
		"y ~ factor(h)":         "(Intercept) h[1] h[2] h[5]",
		"y ~ G + factor(g)":     "(Intercept) g[v] g[w]",
		`s ~ "odd name"`:        "(Intercept) Odd Name[not]",
		"y ~ a:b + factor(a):s": "(Intercept) a:b a[3]:s[false] a[4]:s[false] a[5]:s[false] a[6]:s[false] a[7]:s[false] a[8]:s[false] a[3]:s[true] a[4]:s[true] a[5]:s[true] a[6]:s[true] a[7]:s[true] a[8]:s[true]",
	} {
		d := designOf(t, formula)
		var names []string
		for _, c := range d.Columns {
			names = append(names, c.Name)
		}
		got := strings.Join(names, " ")
		if formula == "y ~ a:b + factor(a):s" { // the order of the combinations is not R's
			if len(names) != 14 {
				t.Errorf("%s: %s", formula, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: %s, want %s", formula, got, want)
		}
	}
	for formula, says := range map[string]string{
		"z ~ a":                       "no column",
		"y ~ free":                    "no declared bounds",
		"y ~ fixed":                   "constant",
		"y ~ loose":                   "without declared values",
		"y ~ single":                  "one declared value",
		"y ~ d":                       "is a date",
		"g ~ a":                       "neither a number",
		"y ~ 0":                       "neither an intercept",
		"y ~ a - a - 1":               "neither an intercept",
		"y ~ factor(c)":               "without declared values",
		"y ~ g*factor(h)*factor(a)*s": "more than 99 predictors",
	} {
		f, err := Parse(formula)
		if err != nil {
			t.Fatal(formula, err)
		}
		var e *curator.Error
		if _, err := f.Design(designTable); !errors.As(err, &e) || e.Code != curator.CodeUsage ||
			!strings.Contains(e.Message, says) {
			t.Errorf("%s: %v; want %q", formula, err, says)
		}
	}
	if got := designOf(t,
		"y ~ a + b:g").Question("s"); got != `SELECT 1, (a - 5.5) / 2.5, (b / 0.5) * CAST(g = 'u' AS INTEGER), `+
		`(b / 0.5) * CAST(g = 'v' AS INTEGER), (b / 0.5) * CAST(g = 'w' AS INTEGER) FROM t WHERE (s`+"\n)" {
		t.Error(got)
	}
}

// For any row and any coefficients, the model of the scaled columns is that of the raw ones; and scaled columns are as
// small as they are said to be.
func TestDesignScales(t *testing.T) {
	formulas := []string{
		"y ~ a", "y ~ a - 1", "y ~ a*b", "y ~ a:b", "y ~ 0 + a + b + a:b", "y ~ a*b*c", "y ~ a*b*c - a:b", "y ~ a*g",
		"y ~ a:g", "y ~ g + a:g",
		"y ~ 0 + g + a:g", "y ~ a*g*s", "y ~ a*b*g - a:b", "y ~ a:b:g:s", "y ~ factor(h)*b + a:b", "y ~ s:a - 1",
	}
	rapid.Check(t, func(r *rapid.T) {
		d := designOf(t, rapid.SampledFrom(formulas).Draw(r, "formula"))
		row := map[string]float64{
			"a": float64(rapid.IntRange(3, 8).Draw(r, "a")), "b": rapid.Float64Range(-0.5, 0.25).Draw(r, "b"),
			"c": rapid.Float64Range(0, 1e6).Draw(r, "c"),
		}
		levels := map[string]string{
			"g": rapid.SampledFrom([]string{"u", "v", "w"}).Draw(r, "g"),
			"s": rapid.SampledFrom([]string{"true", "false"}).Draw(r, "s"),
			"h": rapid.SampledFrom([]string{"0", "1", "2", "5"}).Draw(r, "h"),
		}
		gamma := rapid.SliceOfN(rapid.Float64Range(-1, 1), len(d.Columns), len(d.Columns)).Draw(r, "coefficients")
		scaled, l1, l2 := 0.0, 0.0, 0.0
		for j, c := range d.Columns {
			z := evaluate(t, c.SQL, row, levels)
			most, _ := c.Most.Float64()
			if math.Abs(z) > most+1e-9 {
				t.Errorf("%s: %s is %g", d.Formula, c.SQL, z)
			}
			scaled, l1, l2 = scaled+gamma[j]*z, l1+math.Abs(z), math.Hypot(l2, z)
		}
		most1, _ := d.MostOfL1.Float64()
		most2, _ := d.MostOfL2.Float64()
		if l1 > most1+1e-9 || l2 > most2+1e-9 {
			t.Errorf("%s: norms of %g, %g, and at most %g, %g", d.Formula, l1, l2, most1, most2)
		}
		raw, size := 0.0, 1.0
		for k, beta := range d.Raw(gamma) {
			x := beta
			for _, part := range strings.Split(d.Columns[k].Name, ":") {
				if name, level, ok := strings.Cut(strings.TrimSuffix(part, "]"), "["); ok {
					if levels[name] != level {
						x = 0
					}
				} else if part != InterceptName {
					x *= row[part]
				}
			}
			raw, size = raw+x, size+math.Abs(x)
		}
		if math.Abs(raw-scaled) > 1e-9*size {
			t.Errorf("%s: %g scaled, %g raw", d.Formula, scaled, raw)
		}
	})
}

var indicators = regexp.MustCompile(`CAST\((\w+) = '?(\w+)'? AS INTEGER\)`)

// evaluate computes a scaled column of a row.
func evaluate(t *testing.T, sql string, row map[string]float64, levels map[string]string) float64 {
	sql = indicators.ReplaceAllStringFunc(sql, func(s string) string {
		m := indicators.FindStringSubmatch(s)
		if levels[m[1]] == m[2] {
			return "1"
		}
		return "0"
	})
	e, err := parser.ParseExpr(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	var value func(ast.Expr) float64
	value = func(e ast.Expr) float64 {
		switch e := e.(type) {
		case *ast.ParenExpr:
			return value(e.X)
		case *ast.BasicLit:
			f, err := strconv.ParseFloat(e.Value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return f
		case *ast.Ident:
			return row[e.Name]
		case *ast.BinaryExpr:
			x, y := value(e.X), value(e.Y)
			return map[token.Token]float64{token.ADD: x + y, token.SUB: x - y, token.MUL: x * y, token.QUO: x / y}[e.Op]
		}
		t.Fatalf("%T", e)
		return 0
	}
	return value(e)
}
