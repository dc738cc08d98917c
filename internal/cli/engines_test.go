package cli

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dither/internal/engine/postgres/pgtest"
)

// Every statistic of the command line, of the same rows in a file, in a table on a server, and in a copy of that: with the same randomness each
// says the same, byte for byte. So what the engines find is the same, to the last unit of every sum, count, rank, gradient and minimum: what is added to
// it is the same noise, and nothing that is computed from a release knows where its rows are.

const enginesPolicy = `
version: 1
population: {name: people, neighbours: NEIGHBOURS}
budget: BUDGET
price: {default: 1, minimum: 0.001, maximum: 40}
tables:
  people:
    source: SOURCE(people)
    unit: row
    expected_rows: 600
    columns: {COLUMNS}
  visits:
    source: SOURCE(visits)
    unit: person
    rows_per_unit: 3
    columns: {person: {type: integer}, COLUMNS}
`

const enginesColumns = `x: {type: real, bounds: [-2.5, 17], nullable: true}, y: {type: real, bounds: [0, 100], nullable: true}, ` +
	`n: {type: integer, bounds: [0, 10], nullable: true}, c: {type: integer, values: [0, 1, 2], nullable: true}, ` +
	`g: {type: text, values: [a, B, "it's", é], nullable: true}, ill: {type: boolean, nullable: true}, d: {type: date, bounds: [1999-12-30, 2000-01-05], nullable: true}`

// enginesTypes are the columns' on the server, under a collation that is not that of bytes.
const enginesTypes = `x float8, y numeric, n bigint, c smallint, g text, ill boolean, d date`

// enginesRows are rows of all columns, each fourth of which has a value that breaks arithmetic or comparisons that trust it. "" is NULL.
func enginesRows(persons bool) (out [][]string) {
	hostile := [][]string{
		{"NaN", "Inf", "-Inf", "1e308", "-1.7976931348623157e308", "5e-324", "-5e-324", "-0.0", "17.000000000000004", "16.999999999999996", "0.49999999999999994", ""},
		{"NaN", "1e300", "-1e300", "1e-300", "0.1", "99.99999999999999", "100.00000000000001", ""},
		{"9223372036854775807", "-9223372036854775808", "9007199254740993", "11", "-1", ""},
		{"3", "-1", "32767", ""},
		{"A", "b", "e\u0301", "É", "a ", "ß", "İ", "\U0001F469\u200D\U0001F467", "\u202Ea", ""},
		{""},
		{"0001-01-01", "9999-12-31", "1999-12-29", "2000-02-29", ""},
	}
	r := mathrand.New(mathrand.NewPCG(7, 7))
	for i := range 600 {
		x := 7 + 4*r.NormFloat64()
		n := r.IntN(11)
		row := []string{
			fmt.Sprintf("%.4g", x), fmt.Sprintf("%.5g", 20+3*x+5*r.NormFloat64()), fmt.Sprint(n), fmt.Sprint(r.IntN(3)), []string{"a", "B", "it's", "é"}[r.IntN(4)],
			fmt.Sprint(r.Float64() < 0.2+float64(n)/20), fmt.Sprintf("2000-01-0%d", 1+r.IntN(5)),
		}
		if i%4 == 0 {
			at := r.IntN(len(row))
			row[at] = hostile[at][r.IntN(len(hostile[at]))]
		}
		if persons { // of one row, of two, and of three; with rows that are equal but for their person
			person := i / 2
			if i%10 == 9 {
				person = (i - 2) / 2
			}
			row = append([]string{fmt.Sprint(person * 7919 % 1009)}, row...)
		}
		out = append(out, row)
	}
	return out
}

// engines are homes of the same rows, by where these are.
type engines struct {
	names []string
	homes map[string]string
}

func newEngines(t *testing.T, neighbours, budget string) engines {
	t.Helper()
	owner := pgtest.Start(t).Database(t)
	t.Setenv("DITHER_TEST_ENGINES", owner)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	files := map[string]string{}
	sql := "CREATE SCHEMA made; CREATE SCHEMA copies;"
	for table, first := range map[string]string{"people": "", "visits": "person int, "} {
		rows := enginesRows(table == "visits")
		header := regexp.MustCompile(` [a-z0-9]+(,|$)`).ReplaceAllString(first+enginesTypes, "$1")
		text := strings.ReplaceAll(header, " ", "") + "\n"
		var values []string
		for _, row := range rows {
			var quoted, literal []string
			for _, v := range row {
				if v == "" {
					quoted, literal = append(quoted, ""), append(literal, "NULL")
					continue
				}
				quoted, literal = append(quoted, `"`+v+`"`), append(literal, "'"+strings.ReplaceAll(v, "'", "''")+"'")
			}
			text += strings.Join(quoted, ",") + "\n"
			values = append(values, "("+strings.Join(literal, ", ")+")")
		}
		files[table] = text
		sql += fmt.Sprintf("CREATE TABLE made.%s(%s); INSERT INTO made.%[1]s VALUES %[3]s;", table, first+enginesTypes, strings.Join(values, ", "))
	}
	pgtest.Exec(t, owner, sql)
	out := engines{[]string{"file", "live", "copy"}, map[string]string{}}
	for _, name := range out.names {
		home := filepath.Join(t.TempDir(), "home")
		policy := strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET", budget, "COLUMNS", enginesColumns).Replace(enginesPolicy)
		source, seal := "{postgres: {url_env: DITHER_TEST_ENGINES}, table: made.$1}", []string{"-C", home, "seal", "--shared"}
		switch name {
		case "file":
			source = "{csv: $1.csv}"
		case "copy":
			seal = append(seal, "--copy", "copies")
		}
		policy = regexp.MustCompile(`SOURCE\((\w+)\)`).ReplaceAllString(policy, source)
		enginesSay(t, "init", home)
		if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
		for table, text := range files {
			if err := os.WriteFile(filepath.Join(home, table+".csv"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if said := enginesSay(t, seal...); !strings.HasPrefix(said, "exit 0\n") {
			t.Fatalf("%s: %s", name, said)
		}
		out.homes[name] = home
	}
	return out
}

// enginesSay is what the program says to a command.
func enginesSay(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaint strings.Builder
	code := Run(args, strings.NewReader(""), &out, &complaint)
	return fmt.Sprintf("exit %d\n%s%s", code, out.String(), complaint.String())
}

// say is what one of them says.
func (e engines) say(t *testing.T, name, command string) string {
	t.Helper()
	args := []string{"-C", e.homes[name]}
	for _, word := range enginesWord.FindAllString(command, -1) {
		if quote := word[:1]; quote == "'" || quote == `"` {
			word = strings.Trim(word, quote)
		}
		args = append(args, word)
	}
	return enginesSay(t, args...)
}

// enginesWork is the line of an explanation that is another one where a table is read on its server.
var enginesWork = regexp.MustCompile(`(?m)^work       .*\n`)

// same asks all of them, with bytes of a seed as the system's randomness, and gives what all say.
func (e engines) same(t *testing.T, seed byte, command string) string {
	t.Helper()
	system := rand.Reader
	defer func() { rand.Reader = system }()
	said := map[string]string{}
	for _, name := range e.names {
		rand.Reader = mathrand.NewChaCha8([32]byte{seed, 'e'})
		said[name] = enginesWork.ReplaceAllString(e.say(t, name, command), "")
		if said[name] != said["file"] {
			t.Errorf("%s\nof a file:\n%s\nof a %s:\n%s", command, said["file"], name, said[name])
		}
	}
	if regexp.MustCompile(`(NaN|Inf)\b`).MatchString(said["file"]) {
		t.Errorf("%s\n%s", command, said["file"])
	}
	return said["file"]
}

// enginesSampled trains on samples: whom one takes follows the order in which an engine gives units, so that answers are not the same, but are given.
const enginesSampled = "fit logistic --table visits --formula 'ill ~ n' --method gradient --rows 300 --rate 1/4 --multiplier 20 --steps 3 --delta 1e-5"

var enginesWord = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

var enginesCommands = []string{
	"estimate mean --table people --column x,y,n",
	"estimate mean --table people --column x,y --by g --population",
	`estimate mean --table people --column 'y / 2' --where "d >= '2000-01-02' AND g <> 'a'"`,
	"estimate mean --table visits --column x --by ill --confidence 0.9",
	"estimate mean --table people --column y --method automatic",
	"estimate mean --table people --column x,y --method coinpress --deviation 4,12",
	"estimate variance --table people --column x,y",
	"estimate variance --table visits --column y --population",
	"estimate covariance --table people --column x,y,n",
	"estimate covariance --table visits --column x,y --by c",
	"estimate covariance --table people --column x,y --method coinpress",
	"estimate quantile --table people --column x --at 0.1,0.5,0.9",
	"estimate quantile --table people --column x --at 0.5 --population",
	"estimate quantile --table people --column y --method recursive --at 0.1,0.25,0.5,0.75,0.9",
	"estimate quantile --table people --column x --method joint --at 0.25,0.5,0.75",
	"estimate quantile --table people --column x --method ladder --at 0.25,0.5",
	"estimate quantile --table people --column x --method smooth",
	"estimate quantile --table visits --column y --at 0.25,0.5,0.75",
	"fit linear --table people --formula 'y ~ x + g + ill'",
	"fit linear --table people --formula 'y ~ x * ill' --method lecture",
	"fit linear --table people --formula 'y ~ x' --find-bounds 0.2",
	"fit linear --table visits --formula 'y ~ x + factor(c)'",
	"fit logistic --table people --formula 'ill ~ n + x' --format json",
	"fit logistic --table visits --formula 'ill ~ n + g' --rows 500",
	"fit logistic --table people --formula 'ill ~ n' --or 'ill ~ x' --score-epsilon 0.5",
	"fit poisson --table people --formula 'n ~ ill' --rows 500 --format json",
	"fit linear --table visits --formula 'y ~ x' --cluster person",
	"fit logistic --table visits --formula 'ill ~ n' --rows 500 --cluster person --format json",
	"fit poisson --table visits --formula 'n ~ ill' --rows 500 --cluster person",
	"fit logistic --table visits --formula 'ill ~ x' --rows 500 --cluster g",
	"fit network --table people --formula 'c ~ x + ill' --softmax --rate 1 --multiplier 40 --steps 4 --delta 1e-5 --format json",
	"fit network --table visits --formula 'ill ~ n + x' --hidden 2 --rows 300 --rate 1 --multiplier 40 --steps 4 --delta 1e-5 --format json",
	"fit logistic --table people --formula 'ill ~ n' --method gradient --rate 1 --multiplier 40 --steps 4 --delta 1e-5 --format json",
	"cluster --table people --columns x,y -k 2 --method lloyd --iterations 3 --format json",
	"cluster --table people --columns x,y -k 2 --method grid",
	"cluster --table people --columns x,y,n,c -k 3 --method tree",
	"cluster --table visits --columns x,y -k 2",
	"test gof --table people --column g",
	"test gof --table visits --column c --null 0.4,0.3,0.3",
	"test independence --table people --column c --by ill",
	"test proportions --table people --column ill --by c",
	"test binomial --table people --column ill --value true --n 600 --null 0.5",
	"test means --table people --column y --by ill",
	"test means --table visits --column x --null 7",
}

func TestStatisticsOfAllEngines(t *testing.T) {
	type world struct{ neighbours, budget, price string }
	worlds := []world{
		{"add-remove", "{rho: 5000, delta: 1e-3, selection_delta: 1e-4}", " --epsilon 3"},
		{"change-one", "{epsilon: 1000}", " --epsilon 4"},
	}
	long := os.Getenv("DITHER_LONG") != ""
	if long {
		worlds = append(worlds, world{"add-remove", worlds[1].budget, " --epsilon 4"}, world{"change-one", worlds[0].budget, " --epsilon 3"})
	}
	for _, of := range worlds {
		t.Run(of.neighbours+" "+of.budget[1:4], func(t *testing.T) {
			e := newEngines(t, of.neighbours, of.budget)
			for i, command := range enginesCommands {
				if of != worlds[0] && i%2 > 0 && !long { // the sums are the same; noise and prices are others
					continue
				}
				exit, training := "exit 0\n", strings.Contains(command, "--multiplier")
				if training && of != worlds[0] { // refused everywhere: there is no δ to pay with, or what sampling saves is not proved
					exit = "exit 3\n"
				}
				if !training { // whose noise says the price
					command += of.price
				}
				if of == worlds[0] && !strings.Contains(command, "--or ") { // a search is of several models, and explained by each
					if told := e.same(t, byte(i), command+" --explain"); !strings.HasPrefix(told, exit) {
						t.Errorf("%s --explain\n%s", command, told)
					}
				}
				said := e.same(t, byte(i), command)
				if !strings.HasPrefix(said, exit) {
					t.Errorf("%s\n%s", command, said)
				}
				t.Logf("%s\n%s", command, said)
			}
			for _, name := range e.names {
				if said := e.say(t, name, enginesSampled); of == worlds[0] && !strings.HasPrefix(said, "exit 0\n") {
					t.Errorf("of a %s: %s", name, said)
				}
			}
		})
	}
}
