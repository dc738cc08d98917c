package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/examples/randhie"
)

// Real tables, asked from the command line at ε = 1: regressions, logistic models, tests and clusters, with the root of the mean squared error of each number, about what the rows say
// without noise. Those of docs/reference/statistics.md are of 40 answers each:
//
//	DITHER_LONG=1 DITHER_ADULT=adult.csv go test ./internal/cli -run RealTables -v
//
// Without DITHER_LONG two answers are asked of each, and without DITHER_ADULT the RAND table alone. DITHER_ADULT names the census extract, its columns coded from 0.

const realPolicy = `
version: 1
population: {name: real}
budget: BUDGET
price: {default: 1, minimum: 0.001, maximum: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    expected_rows: ROWS
    columns: {COLUMNS}
`

// realTable is a table, what is asked of it, and what came out: by command and number, under ε and under ρ.
type realTable struct {
	name, columns string
	text          []byte
	asked         []realCommand
}

// realCommand is a command with the numbers that it gives: how they are called, what the rows say, and how large their errors were.
type realCommand struct {
	command string
	read    func(answer map[string]any) []float64
	exact   func(r *realRows) []float64
	names   []string
	errors  [2][]float64 // as docs/reference/statistics.md has them, of ε and of ρ
	where   string       // a condition that is always true, with $ for a number: what has no --fresh is another question with it
}

// realRows are the rows of a table, as numbers.
type realRows struct {
	columns []string
	rows    [][]float64
}

func readReal(t *testing.T, text []byte) *realRows {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := &realRows{columns: records[0]}
	for _, record := range records[1:] {
		row := make([]float64, len(record))
		for i, text := range record {
			if row[i], err = strconv.ParseFloat(text, 64); err != nil {
				t.Fatal(err)
			}
		}
		out.rows = append(out.rows, row)
	}
	return out
}

// of gives some columns, none of which is above most.
func (r *realRows) of(most float64, columns ...string) [][]float64 {
	out := make([][]float64, len(r.rows))
	for i, row := range r.rows {
		for _, c := range columns {
			out[i] = append(out[i], math.Min(row[slices.Index(r.columns, c)], most))
		}
	}
	return out
}

// model fits a response, the first column, to an intercept and the others, without noise: by Newton's method, which is one step of least squares.
func (r *realRows) model(logistic bool, most float64, columns ...string) []float64 {
	rows := r.of(most, columns...)
	d := len(columns)
	theta, x := make([]float64, d), make([]float64, d)
	for range 12 {
		h, g := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
		for _, row := range rows {
			copy(x, row)
			x[0] = 1
			mean, weight := 0.0, 1.0
			for i := range x {
				mean += x[i] * theta[i]
			}
			if logistic {
				mean = 1 / (1 + math.Exp(-mean))
				weight = mean * (1 - mean)
			}
			for i := range x {
				g.SetVec(i, g.AtVec(i)+(row[0]-mean)*x[i])
				for j := range i + 1 {
					h.SetSym(i, j, h.At(i, j)+weight*x[i]*x[j])
				}
			}
		}
		var step mat.VecDense
		if step.SolveVec(h, g) != nil {
			return nil
		}
		for i := range theta {
			theta[i] += step.AtVec(i)
		}
	}
	return theta
}

// table counts pairs of values from 0.
func (r *realRows) table(row, column string) (out [][]float64) {
	for _, v := range r.of(math.Inf(1), row, column) {
		i, j := int(v[0]), int(v[1])
		for len(out) <= i {
			out = append(out, nil)
		}
		for k := range out {
			for len(out[k]) <= j || len(out[k]) < len(out[0]) {
				out[k] = append(out[k], 0)
			}
		}
		out[i][j]++
	}
	return out
}

// pearson is χ² of a table.
func pearson(table [][]float64) (chi float64) {
	n, columns := 0.0, make([]float64, len(table[0]))
	rows := make([]float64, len(table))
	for i := range table {
		for j, x := range table[i] {
			n, rows[i], columns[j] = n+x, rows[i]+x, columns[j]+x
		}
	}
	for i := range table {
		for j, x := range table[i] {
			e := rows[i] * columns[j] / n
			chi += (x - e) * (x - e) / e
		}
	}
	return chi
}

// share of rows in which a column is 1.
func (r *realRows) share(column string) float64 {
	return r.table(column, column)[1][1] / float64(len(r.rows))
}

// shares of the first column, first row less second.
func (r *realRows) shares(by, column string) []float64 {
	k := r.table(by, column)
	return []float64{k[0][0]/(k[0][0]+k[0][1]) - k[1][0]/(k[1][0]+k[1][1])}
}

// means of a column, where another is 0 less where it is 1.
func (r *realRows) means(by, column string, most float64) []float64 {
	var n, sum [2]float64
	for _, v := range r.of(most, by, column) {
		n[int(v[0])]++
		sum[int(v[0])] += v[1]
	}
	return []float64{sum[0]/n[0] - sum[1]/n[1]}
}

// cost is the mean squared distance to the nearest centre, in columns scaled by their bounds from 0.
func realCost(points, centres [][]float64, bounds []float64) float64 {
	sum := 0.0
	for _, p := range points {
		_, d := realNearest(p, centres, bounds)
		sum += d
	}
	return sum / float64(len(points))
}

func realNearest(p []float64, centres [][]float64, bounds []float64) (best int, least float64) {
	least = math.Inf(1)
	for k, c := range centres {
		d := 0.0
		for i := range p {
			x := 2 * (math.Min(p[i], bounds[i]) - c[i]) / bounds[i]
			d += x * x
		}
		if d < least {
			best, least = k, d
		}
	}
	return best, least
}

// lloyd is k-means without privacy: the least cost of ten beginnings.
func lloyd(points [][]float64, bounds []float64, k int) float64 {
	r := mathrand.New(mathrand.NewPCG(3, 3))
	best := math.Inf(1)
	for range 10 {
		centres := make([][]float64, k)
		for i := range centres {
			centres[i] = slices.Clone(points[r.IntN(len(points))])
		}
		for range 15 {
			n, sums := make([]float64, k), make([][]float64, k)
			for _, p := range points {
				at, _ := realNearest(p, centres, bounds)
				n[at]++
				sums[at] = append(sums[at], make([]float64, len(p)-len(sums[at]))...)
				for i, x := range p {
					sums[at][i] += math.Min(x, bounds[i])
				}
			}
			for i := range centres {
				for j := range sums[i] {
					centres[i][j] = sums[i][j] / n[i]
				}
			}
		}
		best = math.Min(best, realCost(points, centres, bounds))
	}
	return best
}

// What answers hold.

func realCoefficients(answer map[string]any) (out []float64) {
	list, _ := answer["coefficients"].([]any)
	for _, k := range list {
		of, _ := k.(map[string]any)
		x, _ := of["estimate"].(float64)
		out = append(out, x)
	}
	return out
}

func realNumber(names ...string) func(map[string]any) []float64 {
	return func(answer map[string]any) (out []float64) {
		for _, name := range names {
			x, ok := answer[name].(float64)
			if !ok {
				x = math.NaN()
			}
			out = append(out, x)
		}
		return out
	}
}

func realCentres(r *realRows, bounds []float64, best float64, columns ...string) func(map[string]any) []float64 {
	return func(answer map[string]any) []float64 {
		var centres [][]float64
		clusters, _ := answer["clusters"].([]any)
		for _, k := range clusters {
			of, _ := k.(map[string]any)
			numbers, _ := of["centre"].([]any)
			var at []float64
			for _, n := range numbers {
				of, _ := n.(map[string]any)
				x, _ := of["value"].(float64)
				at = append(at, x)
			}
			centres = append(centres, at)
		}
		return []float64{realCost(r.of(math.Inf(1), columns...), centres, bounds) / best}
	}
}

func realTables(t *testing.T) (out []realTable) {
	text, err := randhie.Files.ReadFile("randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	one := func(f func(*realRows) float64) func(*realRows) []float64 {
		return func(r *realRows) []float64 { return []float64{f(r)} }
	}
	clusters := func(text []byte, k int, errors [2][]float64, bounds []float64, columns ...string) realCommand {
		r := readReal(t, text)
		best := lloyd(r.of(inf, columns...), bounds, k)
		return realCommand{
			command: fmt.Sprintf("cluster --column %s -k %d", strings.Join(columns, ","), k), names: []string{"cost, relative"},
			read: realCentres(r, bounds, best, columns...), exact: one(func(*realRows) float64 { return 1 }), errors: errors,
		}
	}
	out = append(out, realTable{
		name: "randhie", text: text,
		columns: "mdvis: {type: integer, bounds: [0, 50]}, lncoins: {type: real, bounds: [0, 4.62]}, lpi: {type: real, bounds: [0, 8]}, physlm: {type: real, bounds: [0, 1]}, " +
			"disea: {type: real, bounds: [0, 60]}, hlthf: {type: integer, values: [0, 1]}, hlthg: {type: integer, values: [0, 1]}, idp: {type: integer, values: [0, 1]}",
		asked: []realCommand{
			{
				command: "fit linear --formula 'mdvis ~ lncoins + physlm + disea'", read: realCoefficients, names: []string{"(Intercept)", "lncoins", "physlm", "disea"},
				errors: [2][]float64{{0.3, 0.019, 0.33, 0.03}, {0.043, 0.0036, 0.038, 0.0043}}, exact: func(r *realRows) []float64 { return r.model(false, 50, "mdvis", "lncoins", "physlm", "disea") },
			},
			{
				command: "fit logistic --formula 'hlthf ~ disea + physlm'", read: realCoefficients, names: []string{"(Intercept)", "disea", "physlm"},
				errors: [2][]float64{{0.027, 0.0025, 0.022}, {0.011, 0.00099, 0.0086}}, exact: func(r *realRows) []float64 { return r.model(true, inf, "hlthf", "disea", "physlm") },
			},
			{
				command: "test independence --column hlthf --by idp", read: realNumber("statistic"), names: []string{"χ²"}, where: "mdvis >= -$",
				errors: [2][]float64{{0.042}, {0.032}}, exact: one(func(r *realRows) float64 { return pearson(r.table("idp", "hlthf")) }),
			},
			{
				command: "test gof --column hlthg --null 0.63,0.37", read: realNumber("statistic"), names: []string{"χ²"}, where: "mdvis >= -$",
				errors: [2][]float64{{0.062}, {0.046}}, exact: one(func(r *realRows) float64 {
					k := r.table("hlthg", "hlthg")
					n, x := float64(len(r.rows)), k[0][0]
					return (x - 0.63*n) * (x - 0.63*n) / (n * 0.63 * 0.37)
				}),
			},
			{
				command: "test proportions --column hlthf --by idp", read: realNumber("estimate"), names: []string{"difference of shares"}, where: "mdvis >= -$",
				errors: [2][]float64{{0.00026}, {0.0002}}, exact: func(r *realRows) []float64 { return r.shares("idp", "hlthf") },
			},
			{
				command: "test means --column mdvis --by idp", read: realNumber("estimate"), names: []string{"difference of means"}, where: "mdvis >= -$",
				errors: [2][]float64{{0.044}, {0.018}}, exact: func(r *realRows) []float64 { return r.means("idp", "mdvis", 50) },
			},
			{
				command: "test binomial --column hlthf --value 1 --n 20190 --null 0.08", read: realNumber("estimate"), names: []string{"share"}, where: "mdvis >= -$",
				errors: [2][]float64{{7.2e-05}, {4.4e-05}}, exact: one(func(r *realRows) float64 { return r.share("hlthf") }),
			},
			clusters(text, 3, [2][]float64{{0.1}, {0.1}}, []float64{50, 60, 8}, "mdvis", "disea", "lpi"),
		},
	})
	file := os.Getenv("DITHER_ADULT")
	if file == "" {
		return out
	}
	if text, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	return append(out, realTable{
		name: "adult", text: text,
		columns: "age: {type: integer, bounds: [0, 84]}, education-num: {type: integer, bounds: [0, 15]}, hours-per-week: {type: integer, bounds: [0, 98]}, " +
			"sex: {type: integer, values: [0, 1]}, race: {type: integer, values: [0, 1, 2, 3, 4]}, income>50K: {type: integer, values: [0, 1]}",
		asked: []realCommand{
			{
				command: `fit linear --formula '"hours-per-week" ~ age + "education-num" + sex + "income>50K"'`, read: realCoefficients,
				names:  []string{"(Intercept)", "age", "education-num", "sex", "income>50K"},
				errors: [2][]float64{{0.27, 0.0057, 0.028, 0.048, 0.099}, {0.047, 0.00082, 0.0043, 0.012, 0.019}}, exact: func(r *realRows) []float64 {
					return r.model(false, inf, "hours-per-week", "age", "education-num", "sex", "income>50K")
				},
			},
			{
				command: `fit logistic --formula '"income>50K" ~ age + "education-num" + "hours-per-week" + sex'`, read: realCoefficients,
				names:  []string{"(Intercept)", "age", "education-num", "hours-per-week", "sex"},
				errors: [2][]float64{{0.036, 0.00042, 0.0024, 0.00049, 0.005}, {0.01, 0.000098, 0.00077, 0.00016, 0.0017}}, exact: func(r *realRows) []float64 {
					return r.model(true, inf, "income>50K", "age", "education-num", "hours-per-week", "sex")
				},
			},
			{
				command: "test independence --column income>50K --by race", read: realNumber("statistic"), names: []string{"χ²"}, where: "age >= -$",
				errors: [2][]float64{{3}, {1.9}}, exact: one(func(r *realRows) float64 { return pearson(r.table("race", "income>50K")) }),
			},
			{
				command: "test gof --column sex --null 0.336,0.664", read: realNumber("statistic"), names: []string{"χ²"}, where: "age >= -$",
				errors: [2][]float64{{0.039}, {0.029}}, exact: one(func(r *realRows) float64 {
					n, x := float64(len(r.rows)), r.table("sex", "sex")[0][0]
					return (x - 0.336*n) * (x - 0.336*n) / (n * 0.336 * 0.664)
				}),
			},
			{
				command: "test proportions --column income>50K --by sex", read: realNumber("estimate"), names: []string{"difference of shares"}, where: "age >= -$",
				errors: [2][]float64{{0.00011}, {6.4e-05}}, exact: func(r *realRows) []float64 { return r.shares("sex", "income>50K") },
			},
			{
				command: "test means --column hours-per-week --by sex", read: realNumber("estimate"), names: []string{"difference of means"}, where: "age >= -$",
				errors: [2][]float64{{0.034}, {0.0085}}, exact: func(r *realRows) []float64 { return r.means("sex", "hours-per-week", inf) },
			},
			{
				command: "test binomial --column income>50K --value 1 --n 48842 --null 0.24", read: realNumber("estimate"), names: []string{"share"}, where: "age >= -$",
				errors: [2][]float64{{2.2e-05}, {2.1e-05}}, exact: one(func(r *realRows) float64 {
					return r.table("sex", "income>50K")[0][1]/1e300 + r.table("income>50K", "income>50K")[1][1]/float64(len(r.rows))
				}),
			},
			clusters(text, 4, [2][]float64{{0.1}, {0.1}}, []float64{84, 98, 15}, "age", "hours-per-week", "education-num"),
		},
	})
}

func TestRealTables(t *testing.T) {
	// An error of two answers is above ten times the usual only where their errors make fourteen times the usual together: of Laplace noise, the widest there is here, once in some 10⁸
	// numbers. One of forty is above three times the usual less often still. What clusters cost is no sum of noise: they are held to a rate that is far above what it has been.
	answers, times := 2, 10.0
	if os.Getenv("DITHER_LONG") != "" {
		answers, times = 40, 3
	}
	for _, of := range realTables(t) {
		rows := readReal(t, of.text)
		var homes [2]string
		for i, budget := range []string{"{epsilon: 1000}", "{rho: 1000, delta: 1e-6}"} {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			homes[i] = filepath.Join(t.TempDir(), "home")
			enginesSay(t, "init", homes[i])
			policy := strings.NewReplacer("BUDGET", budget, "ROWS", strconv.Itoa(len(rows.rows)), "COLUMNS", of.columns).Replace(realPolicy)
			for name, text := range map[string][]byte{"policy.yaml": []byte(policy), "t.csv": of.text} {
				if err := os.WriteFile(filepath.Join(homes[i], name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if said := enginesSay(t, "seal", "-C", homes[i]); !strings.HasPrefix(said, "exit 0") {
				t.Fatal(said)
			}
		}
		for _, k := range of.asked {
			t.Run(of.name+" "+k.command, func(t *testing.T) {
				exact := k.exact(rows)
				var squares [2][]float64
				for i, home := range homes {
					squares[i] = make([]float64, len(exact))
					for n := range answers {
						for j, x := range k.read(realAnswer(t, home, k, n+1)) {
							squares[i][j] += (x - exact[j]) * (x - exact[j]) / float64(answers)
						}
					}
				}
				for j, name := range k.names {
					got := [2]float64{math.Sqrt(squares[0][j]), math.Sqrt(squares[1][j])}
					t.Logf("| %s | `%s` | %s | %.4g | %.2g | %.2g |", of.name, k.command, name, exact[j], got[0], got[1])
					for i, of := range k.errors {
						if !(got[i] <= times*of[j]) {
							t.Errorf("%s under %s: an error of %g, which was %g", name, []string{"ε", "ρ"}[i], got[i], of[j])
						}
					}
				}
			})
		}
	}
}

// realAnswer is a command's answer, with noise of its own for each n.
func realAnswer(t *testing.T, home string, k realCommand, n int) (out map[string]any) {
	t.Helper()
	args := []string{"-C", home}
	for _, word := range enginesWord.FindAllString(k.command, -1) {
		args = append(args, strings.Trim(word, "'"))
	}
	args = append(args, "--table", "t", "--epsilon", "1", "--format", "json")
	if k.where != "" {
		args = append(args, "--where", strings.ReplaceAll(k.where, "$", strconv.Itoa(n)))
	} else {
		args = append(args, "--fresh")
	}
	exit, said, _ := strings.Cut(enginesSay(t, args...), "\n")
	if err := json.Unmarshal([]byte(said), &out); err != nil || exit != "exit 0" {
		t.Fatal(args, exit, said, err)
	}
	return out
}
