package enginetest

import (
	"embed"
	"encoding/csv"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

//go:embed testdata/*.test
var scripts embed.FS

var update = flag.Bool("conform.update", false, "rewrite the scripts' expectations; for the reference's test alone")

// Engine runs the statements of a script. It stores the rows in the tables that a bounded statement reads, and runs
// the statement.
type Engine interface {
	// Sums runs b, and passes the keys and sums of each result row to add.
	Sums(t testing.TB, p *policy.Policy, rows Tables, b *bounded.Statement,
		add func(keys []value.Value, sums []*big.Int)) error
	// Order runs b, and returns how often each value occurs.
	Order(t testing.TB, p *policy.Policy, rows Tables, b *bounded.Statement) (map[int64]int64, error)
}

// Conform runs every script in testdata with an engine. A script consists of blocks, separated by blank lines. A
// line that begins with # is a comment. The first line of a block states what follows:
//
//	policy                 a policy in YAML
//	rows TABLE             rows as CSV with a header; NULL stands for NULL
//	sums SELECT …          the answer: the measures, and every cell that is not 0
//	order SELECT …         how often each gridded value occurs
//	units SELECT …         how many units have how many rows, for the search for a row cap
//	refused SELECT …       the planner's reason for refusing the question
//
// Answers are exact. Each engine may choose differently which rows or cells of a unit in one table a cap leaves
// out. So scripts about one table ask only questions whose answer does not depend on this choice. Over relations,
// all engines choose alike.
func Conform(t *testing.T, e Engine) {
	names, err := fs.Glob(scripts, "testdata/*.test")
	if err != nil || len(names) == 0 {
		t.Fatal(err, names)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(path.Base(name), ".test"), func(t *testing.T) {
			text, err := scripts.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s := script{engine: e, rows: Tables{}}
			var out []string
			for _, block := range strings.Split(strings.Trim(string(text), "\n"), "\n\n") {
				out = append(out, s.block(t, block))
			}
			if *update {
				if err := os.WriteFile(name, []byte(strings.Join(out, "\n\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type script struct {
	engine Engine
	policy *policy.Policy
	rows   Tables
}

// block runs one block. It returns the block with its expectation replaced by the engine's result.
func (s *script) block(t *testing.T, text string) string {
	t.Helper()
	var comments, lines []string
	for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			comments = append(comments, line)
		} else {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return text
	}
	verb, rest, _ := strings.Cut(lines[0], " ")
	body := strings.Join(lines[1:], "\n")
	var got string
	switch verb {
	case "policy":
		p, err := policy.Decode([]byte(body), ".")
		if err != nil {
			t.Fatal(err)
		}
		s.policy = p
		return text
	case "rows":
		s.rows[rest] = s.read(t, rest, body)
		return text
	case "sums":
		got = s.sums(t, rest)
	case "order":
		got = s.order(t, rest)
	case "units":
		got = s.unitRows(t, rest)
	case "refused":
		_, err := plan.Build(s.filled(), plan.Request{SQL: rest})
		got = fmt.Sprint(err)
	default:
		t.Fatalf("no such block: %s", lines[0])
	}
	if got != body && !*update {
		t.Errorf("%s\ngot\n%s\nwant\n%s", lines[0], got, body)
	}
	return strings.Join(append(comments, lines[0], got), "\n")
}

func (s *script) read(t *testing.T, table, body string) []Row {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(records) == 0 {
		t.Fatalf("rows %s: %v", table, err)
	}
	declared := s.policy.Table(table)
	out := make([]Row, len(records)-1)
	for i, record := range records[1:] {
		out[i] = Row{}
		for j, name := range records[0] {
			c := declared.Column(name)
			v := value.NullOf(c.Type)
			if record[j] != "NULL" {
				if v, err = value.Parse(c.Type, record[j]); err != nil {
					t.Fatalf("rows %s: row %d, column %s: %v", table, i+1, name, err)
				}
			}
			out[i][name] = v
		}
	}
	return out
}

func (s *script) sums(t *testing.T, sql string) string {
	t.Helper()
	p, err := plan.Build(s.filled(), plan.Request{SQL: sql})
	if err != nil {
		return fmt.Sprint(err)
	}
	cells := make([][]*big.Int, p.Cells())
	err = s.engine.Sums(t, s.policy, s.rows, &p.Statement, func(keys []value.Value, sums []*big.Int) {
		cell := 0
		for i, v := range keys {
			j := p.Keys[i].Index(v)
			if j < 0 {
				return
			}
			cell = cell*len(p.Keys[i].Values) + j
		}
		if cells[cell] == nil {
			cells[cell] = make([]*big.Int, len(sums))
		}
		for i, n := range sums {
			if cells[cell][i] == nil {
				cells[cell][i] = new(big.Int)
			}
			if n != nil {
				cells[cell][i].Add(cells[cell][i], n)
			}
		}
	})
	if err != nil {
		return "fails: " + err.Error()
	}
	return answer(p, cells)
}

// filled returns the policy with the values that columns take from the present rows of public tables.
func (s *script) filled() *policy.Policy {
	return s.policy.Filled(func(o policy.Origin) (known []value.Value, version int, trouble string) {
		for _, r := range s.rows[o.Table] {
			if v := r[o.Column]; !v.Null {
				known = append(known, v)
			}
		}
		slices.SortFunc(known, value.Compare)
		return slices.Compact(known), 1, ""
	})
}

// answer returns a text of the measures and of the cells that are not 0.
func answer(p *plan.Plan, cells [][]*big.Int) string {
	var lines []string
	for _, m := range p.Measures {
		line := "· " + string(m.Kind)
		if m.X != nil {
			line += " of " + m.X.String()
		}
		if m.Grid != 0 || m.Centre != 0 {
			line += fmt.Sprintf(", in units of 2^%d, less %d of them", m.Grid, m.Centre)
		}
		lines = append(lines, line)
	}
	for i, sums := range cells {
		if !slices.ContainsFunc(sums, func(n *big.Int) bool { return n.Sign() != 0 }) {
			continue
		}
		var line []string
		for _, v := range p.CellKeys(i) {
			text := v.String()
			if v.Type == value.Text && !v.Null {
				text = fmt.Sprintf("%q", text)
			}
			line = append(line, text)
		}
		if len(p.Keys) > 0 {
			line = append(line, "→")
		}
		for _, n := range sums {
			line = append(line, n.String())
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return strings.Join(lines, "\n")
}

func (s *script) order(t *testing.T, sql string) string {
	t.Helper()
	q, err := plan.BuildOrder(s.policy, plan.Request{SQL: sql})
	if err != nil {
		return fmt.Sprint(err)
	}
	counts, err := s.engine.Order(t, s.policy, s.rows, &q.Statement)
	if err != nil {
		return "fails: " + err.Error()
	}
	lines := []string{fmt.Sprintf("· in units of 2^%d", q.Measures[0].Grid)}
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%d × %d", counts[v], v))
	}
	return strings.Join(lines, "\n")
}
