package curator

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/release"
)

// placesOfRetry finds the functions that say Retry, in the folders of those that make an *Error.
func placesOfRetry(t *testing.T) (places []string, codes []string) {
	t.Helper()
	for _, dir := range []string{
		".", "../stats/cluster", "../stats/estimate", "../stats/formula", "../stats/regression", "../stats/internal/request", "../hypothesis", "../internal/cli", "../internal/cli/analyst", "../internal/cli/console",
		"../internal/cli/laboratory", "../internal/cli/owner", "../internal/cli/statistics", "../internal/cli/tour",
	} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if g, ok := d.(*ast.GenDecl); ok && dir == "." && g.Tok == token.CONST {
					codes = append(codes, codesIn(g)...)
				}
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				place := parsed.Name.Name + " " + f.Name.Name
				ast.Inspect(f, func(n ast.Node) bool {
					if c, ok := n.(*ast.CaseClause); ok && f.Name.Name == "endings" && len(c.List) > 0 { // each way to end is a place of its own
						if how, ok := c.List[0].(*ast.SelectorExpr); ok {
							place = parsed.Name.Name + " " + how.Sel.Name
						}
					}
					if saysRetry(n) {
						places = append(places, place)
					}
					return true
				})
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places), codes
}

func codesIn(g *ast.GenDecl) (codes []string) {
	for _, s := range g.Specs {
		if v, ok := s.(*ast.ValueSpec); ok && len(v.Values) == 1 && strings.HasPrefix(v.Names[0].Name, "Code") {
			if text, ok := v.Values[0].(*ast.BasicLit); ok {
				codes = append(codes, strings.Trim(text.Value, `"`))
			}
		}
	}
	return codes
}

// saysRetry reports a Retry that is set to anything but false.
func saysRetry(n ast.Node) bool {
	not := func(x ast.Expr) bool { i, ok := x.(*ast.Ident); return ok && i.Name == "false" }
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		k, ok := n.Key.(*ast.Ident)
		return ok && k.Name == "Retry" && !not(n.Value)
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Retry" && (len(n.Rhs) != len(n.Lhs) || !not(n.Rhs[i])) {
				return true
			}
		}
	}
	return false
}

// retried is an error that says Retry.
type retried struct {
	code Code // of the error
	// provoke gives the error, in c, and what asks again.
	provoke func(t *testing.T, c *Owner) (func() error, error)
	pays    int // reservations in all, once the question was asked again
}

type unavailable struct{ engine.Engine }

func (unavailable) Rehearse(context.Context, *bounded.Statement, engine.Sealed) error {
	return fmt.Errorf("it is down: %w", engine.ErrUnavailable)
}

// Each place that says Retry is here, with a try: the question is asked again as it was, and not paid a second time. Asked afresh, no error says it.
func TestRetryCostsNothingNew(t *testing.T) {
	answer := func(c *Owner) func() error {
		return func() error {
			_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people"})
			return err
		}
	}
	tries := map[string]retried{
		"curator Crowded": {CodeUnavailable, func(t *testing.T, c *Owner) (func() error, error) {
			long := *inside(nil).TurnTime
			defer func() { *inside(nil).TurnTime = long }()
			for range release.RehearsalsOfOne {
				done, err := inside(nil).Turn(t.Context(), "", *inside(nil).TurnTime)
				if err != nil {
					t.Fatal(err)
				}
				defer done()
			}
			*inside(nil).TurnTime = 10 * time.Millisecond
			_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people", Fresh: true})
			saysNot(t, err)
			return answer(c), answer(c)()
		}, 1},
		"curator Late": {CodeUnavailable, func(t *testing.T, c *Owner) (func() error, error) {
			clock := newFakeClock()
			*inside(c).Clock, c.policy.Delay = clock, &policy.Delay{Quantum: time.Second, Floor: time.Second, Factor: big.NewRat(1, 1), Rows: 1}
			defer func() { c.policy.Delay = nil }()
			ctx := c.kernel.Arrives(t.Context())
			clock.set(clock.Now().Add(2 * time.Second))
			_, err := c.Answer(ctx, Question{SQL: "SELECT COUNT(*) FROM people", Fresh: true})
			saysNot(t, err)
			_, err = c.Answer(ctx, Question{SQL: "SELECT COUNT(*) FROM people"})
			return answer(c), err
		}, 1},
		"curator Unreachable": {CodeUnavailable, func(t *testing.T, c *Owner) (func() error, error) {
			works := *inside(c).Engine
			*inside(c).Engine = unavailable{works}
			for _, fresh := range []bool{true, false} {
				_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people", Fresh: fresh})
				if fresh {
					saysNot(t, err)
				} else {
					*inside(c).Engine = works
					return answer(c), err
				}
			}
			return nil, nil
		}, 1},
		"curator Busy": {CodeUnavailable, func(t *testing.T, c *Owner) (func() error, error) {
			a, err := c.ask(Question{SQL: "SELECT COUNT(*) FROM people"})
			if err != nil {
				t.Fatal(err)
			}
			done, _, err := inside(c).Underway(t.Context(), a.look.Key())
			if err != nil {
				t.Fatal(err)
			}
			*inside(c).Limit = 10 * time.Millisecond
			err = answer(c)()
			*inside(c).Limit = 0
			done()
			return answer(c), err
		}, 1},
		"curator worded": {CodeCancelled, func(t *testing.T, c *Owner) (func() error, error) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := c.Answer(ctx, Question{SQL: "SELECT COUNT(*) FROM people", Fresh: true})
			saysNot(t, err)
			_, err = c.Answer(ctx, Question{SQL: "SELECT COUNT(*) FROM people"})
			return answer(c), err
		}, 1},
		"curator stepGivenUp": {CodeCancelled, func(t *testing.T, c *Owner) (func() error, error) {
			q := logisticTraining()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			step := func(ctx context.Context) error {
				tr, err := c.Train(t.Context(), q)
				if err == nil {
					_, err = tr.Step(ctx, make([]float64, 3))
					err = errors.Join(err, tr.Close())
				}
				return err
			}
			q.Fresh = true
			saysNot(t, step(ctx))
			q.Fresh = false
			return func() error { return step(t.Context()) }, step(ctx)
		}, 1},
		"curator charged": {CodeHome, func(t *testing.T, c *Owner) (func() error, error) {
			tr, err := c.Train(t.Context(), logisticTraining())
			if err != nil {
				t.Fatal(err)
			}
			again := func() error {
				tr, err := c.Train(t.Context(), logisticTraining())
				if err == nil {
					err = tr.Close()
				}
				return err
			}
			err = again()
			if closing := tr.Close(); closing != nil {
				t.Fatal(closing)
			}
			return again, err
		}, 1},
		"curator Seal": {CodeCancelled, func(t *testing.T, c *Owner) (func() error, error) {
			edit(t, c.home, "people.csv", "1,,1,20\n", "1,,1,20\n0,0,1,3\n")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := c.Seal(ctx, "people", SealOptions{})
			return func() error { _, err := c.Seal(t.Context(), "people", SealOptions{}); return err }, err
		}, 0},
		"curator AcceptPolicyWith": {CodePolicyChanged, func(t *testing.T, c *Owner) (func() error, error) {
			edit(t, c.home, "policy.yaml", "default: 0.1", "default: 0.2")
			_, err := c.AcceptPolicy(t.Context(), false)
			return func() error { _, err := openHome(t, c.home).AcceptPolicy(t.Context(), false); return err }, err
		}, 0},
		"console asError": {CodeCancelled, nil, 0}, // between two questions: what they said of themselves holds, and report says nothing of it afresh (internal/cli/console)
	}
	places, codes := placesOfRetry(t)
	for _, p := range places {
		if _, ok := tries[p]; !ok {
			t.Errorf("%s says Retry: try here that asking again pays nothing a second time", p)
		}
	}
	may := map[Code]bool{}
	for p, try := range tries {
		if may[try.code] = true; !slices.Contains(places, p) {
			t.Errorf("%s says no Retry", p)
		}
		if try.provoke == nil {
			continue
		}
		t.Run(p, func(t *testing.T) {
			c := openHome(t, fitHome(t, trainBudget, "add-remove", 60))
			again, err := try.provoke(t, c)
			var e *Error
			if !errors.As(err, &e) || e.Code != try.code || !e.Retry {
				t.Fatalf("%+v", err)
			}
			if err := again(); err != nil {
				t.Errorf("again: %v", err)
			}
			s, err := c.ledger.State()
			if err != nil || s.Reservations != try.pays {
				t.Errorf("%d reservations, want %d; %v", s.Reservations, try.pays, err)
			}
		})
	}
	for _, code := range codes { // of all there are, those that may be asked again
		if want := slices.Contains([]Code{CodeUnavailable, CodeCancelled, CodeHome, CodePolicyChanged}, Code(code)); may[Code(code)] != want {
			t.Errorf("code %s: %v", code, may[Code(code)])
		}
	}
	if len(codes) < 16 {
		t.Errorf("found the codes %v", codes)
	}
	if text, err := os.ReadFile("../docs/reference/json.md"); err == nil {
		for _, code := range codes {
			if !strings.Contains(string(text), "| `"+code+"` |") {
				t.Errorf("docs/reference/json.md does not list %s", code)
			}
		}
	}
}

func saysNot(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Retry {
		t.Errorf("asked afresh: %+v", err)
	}
}
