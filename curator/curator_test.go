package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/value"
	"dither/mechanism"
)

const testPolicy = `
version: 1
population: {name: test, neighbours: add-remove}
budget: {epsilon: 1}
price: {default: 0.1, maximum: 0.5}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 115]}
      region: {type: text, values: [north, south], nullable: true}
      height: {type: real, bounds: [50, 250], nullable: true}
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      cost: {type: integer, bounds: [0, 10]}
`

// newHome makes a sealed home of small files.
func newHome(t testing.TB) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", testPolicy)
	write(t, home, "people.csv", "age,region,height\n30,north,170.5\n40,south,NaN\n130,,1e300\n-5,west,\n")
	write(t, home, "visits.csv", "person,cost\n1,3\n1,4\n2,20\n")
	c := openHome(t, home)
	for _, table := range []string{"people", "visits"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func write(t testing.TB, home, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func openHome(t testing.TB, home string) *Owner {
	t.Helper()
	c, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func spent(t testing.TB, c *Owner) string {
	t.Helper()
	b, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	return b.Spent.Epsilon
}

func codeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

const countSQL = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"

// An answer is charged once; the same question in other words is free, gives the same numbers, and so after the budget is
// gone and after the home is opened again.
func TestChargeAndReplay(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	first, err := c.Answer(t.Context(), Question{SQL: countSQL})
	if err != nil {
		t.Fatal(err)
	}
	if first.Replayed || first.Price.Epsilon != "0.1" || first.Remaining.Epsilon != "0.9" || len(first.Rows) != 3 {
		t.Fatalf("%+v", first)
	}
	for {
		_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people", Epsilon: "0.2", Fresh: true})
		if err != nil {
			if codeOf(err) != CodeExhausted {
				t.Fatal(err)
			}
			break
		}
	}
	if got := spent(t, c); got != "0.9" {
		t.Errorf("spent %s, want .1 + 4 × .2", got)
	}
	for _, c := range []*Owner{c, openHome(t, home)} {
		again, err := c.Answer(t.Context(), Question{
			SQL: "select COUNT(*) as many, region from people as p group by p.region having count(*) < 1e9", Confidence: "0.5",
		})
		if err != nil {
			t.Fatal(err)
		}
		if !again.Replayed || again.ID != first.ID {
			t.Errorf("not replayed: %+v", again)
		}
		for i, row := range again.Rows {
			if row[0].Estimate.Value.String() != first.Rows[i][1].Estimate.Value.String() || row[1].Key != first.Rows[i][0].Key {
				t.Errorf("row %d: %v, want %v", i, row, first.Rows[i])
			}
		}
	}
	if got := spent(t, c); got != "0.9" {
		t.Errorf("spent %s after replays", got)
	}
}

// Explaining spends nothing, and tells a replay.
func TestExplainIsFree(t *testing.T) {
	c := openHome(t, newHome(t))
	e, err := c.Explain(t.Context(), Question{SQL: countSQL})
	if err != nil || e.Replayed || !e.Affordable || e.Cells != 3 {
		t.Fatalf("%+v, %v", e, err)
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("spent %s", got)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); err != nil {
		t.Fatal(err)
	}
	if e, err = c.Explain(t.Context(), Question{SQL: countSQL}); err != nil || !e.Replayed {
		t.Errorf("%+v, %v", e, err)
	}
}

// failing is an engine that fails as a database does: with an error that quotes rows.
type failing struct{ during func() }

func (f failing) Aggregate(context.Context, *bounded.Statement, engine.Sealed) ([][]mechanism.Exact, error) {
	if f.during != nil {
		f.during()
	}
	return nil, errors.New("conversion failed on 'Alice, HIV positive'")
}

func (f failing) Margins(context.Context, *bounded.Statement, [][]int, engine.Sealed) ([][]mechanism.Exact, error) {
	_, err := f.Aggregate(context.Background(), nil, engine.Sealed{})
	return nil, err
}

func (f failing) Groups(context.Context, *bounded.Statement, engine.Sealed) (*engine.Groups, error) {
	_, err := f.Aggregate(context.Background(), nil, engine.Sealed{})
	return nil, err
}

func (f failing) Values(context.Context, bounded.Column, engine.Sealed, int) ([]value.Value, error) {
	_, err := f.Aggregate(context.Background(), nil, engine.Sealed{})
	return nil, err
}

func (f failing) PublicRows(context.Context, []bounded.Column, engine.Sealed, int) ([][]value.Value, error) {
	_, err := f.Aggregate(context.Background(), nil, engine.Sealed{})
	return nil, err
}

// Order fails in the middle of a pass.
func (f failing) Order(context.Context, *bounded.Statement, engine.Sealed) (mechanism.Ordered, error) {
	return mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		yield(1, 1)
		_, err := f.Aggregate(context.Background(), nil, engine.Sealed{})
		return err
	}), nil
}

// OrderCells fails likewise.
func (f failing) OrderCells(_ context.Context, b *bounded.Statement, _ engine.Sealed) (mechanism.OrderedCells, error) {
	return mechanism.NewOrderedCells(b.Cells(), func(yield func(cell int, value, count int64) bool) error {
		yield(0, 1, 1)
		_, err := f.Aggregate(context.Background(), nil, engine.Sealed{})
		return err
	}), nil
}

// Rows fails in the middle.
func (f failing) Rows(_ context.Context, b *bounded.Statement, _ engine.Sealed, into *mechanism.Rows) error {
	if err := into.Add(true, make([]int64, len(b.Measures))); err != nil {
		return err
	}
	_, err := f.Aggregate(context.Background(), nil, engine.Sealed{})
	return err
}

func (failing) Rehearse(context.Context, *bounded.Statement, engine.Sealed) error { return nil }

func (failing) Close() error { return nil }

// untried is an engine that fails in rehearsal.
type untried struct{ failing }

func (untried) Rehearse(context.Context, *bounded.Statement, engine.Sealed) error {
	return errors.New("overflow in made-up row")
}

// A question that fails after its reservation stays charged, is not replayed, and says nothing of why.
func TestFailureStaysCharged(t *testing.T) {
	c := openHome(t, newHome(t))
	reserved := ""
	*inside(c).Engine = failing{func() { reserved = spent(t, c) }}
	var owner error
	c.listener = func(err error) { owner = err }
	_, err := c.Answer(t.Context(), Question{SQL: countSQL})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeFailed || !e.Charged || e.Retry {
		t.Fatalf("%+v", err)
	}
	text, jsonErr := json.Marshal(e)
	if all := fmt.Sprintf("%v %+v %#v %s %v", err, err, errors.Unwrap(e), text, jsonErr); strings.Contains(all, "Alice") {
		t.Errorf("the engine's words got out: %s", all)
	}
	if owner == nil || !strings.Contains(owner.Error(), "Alice") {
		t.Errorf("the owner was told %v", owner)
	}
	if reserved != "0.1" || spent(t, c) != "0.1" {
		t.Errorf("spent %s while the engine ran, %s after", reserved, spent(t, c))
	}
	if e, err := c.Explain(t.Context(), Question{SQL: countSQL}); err != nil || e.Replayed {
		t.Errorf("a failed question is replayed: %+v, %v", e, err)
	}
}

// After so many failures nothing new is answered until the owner has looked into them: whether a question fails is the one
// thing that comes out without noise.
func TestFailuresSuspend(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); err != nil {
		t.Fatal(err)
	}
	works := *inside(c).Engine
	*inside(c).Engine = failing{}
	other := Question{SQL: "SELECT COUNT(*) FROM people", Epsilon: "0.001", Fresh: true}
	for i := range ledger.MaxFailures {
		if _, err := c.Answer(t.Context(), other); codeOf(err) != CodeFailed {
			t.Fatalf("failure %d: %v", i, err)
		}
	}
	*inside(c).Engine = works
	for _, c := range []*Owner{c, openHome(t, home)} {
		if _, err := c.Answer(t.Context(), other); codeOf(err) != CodeSuspended {
			t.Errorf("answered after %d failures: %v", ledger.MaxFailures, err)
		}
	}
	if r, err := c.Answer(t.Context(), Question{SQL: countSQL}); err != nil || !r.Replayed {
		t.Errorf("a replay: %v", err)
	}
	if b, err := c.Budget(); err != nil || b.Spent.Epsilon != "0.11" || b.Failures != ledger.MaxFailures {
		t.Errorf("%+v, %v", b, err)
	}
	if err := c.ledger.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), other); err != nil {
		t.Errorf("after the owner's act: %v", err)
	}
}

// A question that fails on made-up rows is refused before it costs anything, and reads no row.
func TestRehearsalComesFirst(t *testing.T) {
	c := openHome(t, newHome(t))
	*inside(c).Engine = untried{failing{func() { t.Error("the engine read rows") }}}
	var owner error
	c.listener = func(err error) { owner = err }
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); codeOf(err) != CodePolicy || owner == nil {
		t.Errorf("%v; the owner was told %v", err, owner)
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("spent %s", got)
	}
}

// Refusals come before anything is spent, and read no row.
func TestRefusalsAreFree(t *testing.T) {
	c := openHome(t, newHome(t))
	*inside(c).Engine = failing{func() { t.Error("the engine ran") }}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range []struct {
		ctx  context.Context
		q    Question
		code Code
	}{
		{t.Context(), Question{SQL: "SELEC"}, CodeSQL},
		{t.Context(), Question{SQL: "SELECT SUM(nosuch) FROM people"}, CodePolicy},
		{t.Context(), Question{SQL: countSQL, Epsilon: "0.6"}, CodePolicy},
		{t.Context(), Question{SQL: countSQL, Epsilon: "0.000099"}, CodePolicy}, // below a ten-thousandth of the budget
		{t.Context(), Question{SQL: countSQL, Epsilon: "0"}, CodeUsage},
		{t.Context(), Question{SQL: countSQL, Epsilon: "-1"}, CodeUsage},
		{t.Context(), Question{SQL: countSQL, Epsilon: "NaN"}, CodeUsage},
		{t.Context(), Question{SQL: countSQL, Epsilon: "1e400"}, CodeUsage},
		{t.Context(), Question{SQL: countSQL, Epsilon: "1e999999999"}, CodeUsage},
		{t.Context(), Question{SQL: countSQL, Epsilon: "1e20"}, CodeUsage},
		{t.Context(), Question{SQL: "SELECT SUM(height) FROM people", Epsilon: "1e-60"}, CodePolicy},
		{t.Context(), Question{SQL: countSQL, Confidence: "1"}, CodeUsage},
		{t.Context(), Question{SQL: countSQL, Confidence: "nan"}, CodeUsage},
		{cancelled, Question{SQL: countSQL}, CodeCancelled},
	} {
		if _, err := c.Answer(x.ctx, x.q); codeOf(err) != x.code {
			t.Errorf("%+v: %v (%s), want %s", x.q, err, codeOf(err), x.code)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("spent %s", got)
	}
	long := Question{SQL: countSQL, Epsilon: "0.12345678901234567890123456789"}
	if e, err := c.Explain(t.Context(), long); err != nil || e.Price.Epsilon != long.Epsilon {
		t.Errorf("twenty and more digits: %+v, %v", e, err)
	}
}

// Many at once, through several handles, never overspend, and spend the budget to its end.
func TestConcurrentAnalysts(t *testing.T) {
	home := newHome(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	answered, refused := 0, 0
	for range 3 {
		c := openHome(t, home)
		for range 4 {
			wait.Go(func() {
				for range 3 {
					_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people", Fresh: true})
					mu.Lock()
					switch {
					case err == nil:
						answered++
					case codeOf(err) == CodeExhausted:
						refused++
					default:
						t.Error(err)
					}
					mu.Unlock()
				}
			})
		}
	}
	wait.Wait()
	if answered != 10 || refused != 26 {
		t.Errorf("%d answered, %d refused; the budget holds exactly 10", answered, refused)
	}
	if got := spent(t, openHome(t, home)); got != "1" {
		t.Errorf("spent %s", got)
	}
}

// The policy in force is the recorded one: what the budget rests on changes by the owner's act only, and past losses are
// read again.
func TestPolicyChanges(t *testing.T) {
	home := newHome(t)
	if _, err := openHome(t, home).Answer(t.Context(), Question{SQL: countSQL}); err != nil {
		t.Fatal(err)
	}
	rewrite := func(old, new string) {
		write(t, home, "policy.yaml", strings.Replace(testPolicy, old, new, 1))
	}
	// A bound may change freely, and makes other answers.
	rewrite("bounds: [0, 115]", "bounds: [0, 100]")
	c := openHome(t, home)
	if e, err := c.Explain(t.Context(), Question{SQL: countSQL}); err != nil || e.Replayed {
		t.Errorf("after a change of bounds: %+v, %v", e, err)
	}
	// A larger budget is the owner's act.
	rewrite("{epsilon: 1}", "{epsilon: 2}")
	c = openHome(t, home)
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); codeOf(err) != CodePolicyChanged {
		t.Errorf("a larger budget was used unaccepted: %v", err)
	}
	if _, err := c.AcceptPolicy(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); err != nil {
		t.Errorf("after accepting: %v", err)
	}
	// Another relation: what was spent counts twice.
	rewrite("add-remove", "change-one")
	c = openHome(t, home)
	change, err := c.AcceptPolicy(t.Context(), false)
	if err != nil || change.Group != 2 || change.Spent.Epsilon != "0.4" {
		t.Errorf("%+v, %v", change, err)
	}
	if got := spent(t, c); got != "0.4" {
		t.Errorf("spent %s", got)
	}
	// And not back.
	rewrite("xyz", "xyz")
	if _, err := openHome(t, home).AcceptPolicy(t.Context(), false); codeOf(err) != CodePolicy {
		t.Errorf("change-one to add-remove: %v", err)
	}
}

// A handle that was opened before a policy was accepted neither asks under the old one nor puts it back.
func TestStaleHandles(t *testing.T) {
	home := newHome(t)
	stale := openHome(t, home)
	if _, err := stale.Answer(t.Context(), Question{SQL: countSQL}); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", strings.Replace(testPolicy, "{epsilon: 1}", "{epsilon: 0.5}", 1))
	if _, err := openHome(t, home).AcceptPolicy(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := stale.AcceptPolicy(t.Context(), false); !errors.As(err, &e) || e.Code != CodePolicyChanged || !e.Retry {
		t.Errorf("accepting a policy that is no longer in the file: %v", err)
	}
	if _, err := stale.Answer(t.Context(), Question{SQL: countSQL, Fresh: true}); codeOf(err) != CodePolicyChanged {
		t.Errorf("answered under a policy that is no longer in force: %v", err)
	}
	// A change that needs no acceptance, adopted by another handle.
	write(t, home, "policy.yaml", strings.Replace(testPolicy, "{epsilon: 1}", "{epsilon: 0.5} # tighter", 1))
	fresh := openHome(t, home)
	write(t, home, "policy.yaml", strings.NewReplacer("{epsilon: 1}", "{epsilon: 0.5}", "[0, 115]", "[0, 110]").Replace(testPolicy))
	openHome(t, home)
	if _, err := fresh.Answer(t.Context(), Question{SQL: countSQL}); !errors.As(err, &e) || e.Code != CodePolicyChanged || e.Retry {
		t.Errorf("answered under a policy that is no longer in force: %v", err)
	}
}

// Rows become persons only when every sealed version says how many rows a person has, and then past losses count so often.
func TestFromRowsToPersons(t *testing.T) {
	rows := strings.Replace(testPolicy, "unit: person\n    rows_per_unit: 3", "unit: row", 1)
	if rows == testPolicy {
		t.Fatal("the policy was not changed")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "rows")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", rows)
	write(t, home, "people.csv", "age,region,height\n30,north,170.5\n")
	write(t, home, "visits.csv", "person,cost\n1,3\n1,4\n1,4\n1,9\n2,20\n")
	c := openHome(t, home)
	seal := func() {
		t.Helper()
		if _, err := c.Seal(t.Context(), "visits", SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	seal()
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits"}); err != nil {
		t.Fatal(err)
	}
	write(t, home, "visits.csv", "person,cost\n1,3\n2,20\n") // the newest version has one row each, and proves nothing
	seal()
	write(t, home, "policy.yaml", testPolicy)
	c = openHome(t, home)
	if _, err := c.AcceptPolicy(t.Context(), false); codeOf(err) != CodeSource || !strings.Contains(err.Error(), "4 rows") {
		t.Errorf("accepted, though a person had more rows: %v", err)
	}
	write(t, home, "policy.yaml", strings.Replace(testPolicy, "rows_per_unit: 3", "rows_per_unit: 4", 1))
	c = openHome(t, home)
	change, err := c.AcceptPolicy(t.Context(), false)
	if err != nil || change.Group != 4 || change.Spent.Epsilon != "0.4" {
		t.Fatalf("%+v, %v", change, err)
	}
	if got := spent(t, c); got != "0.4" {
		t.Errorf("spent %s", got)
	}
}

// A home without a ledger, without a policy, or with a broken one opens with an error that says what to do.
func TestBadHomes(t *testing.T) {
	for name, spoil := range map[string]func(home string) error{
		"no policy":  func(h string) error { return os.Remove(filepath.Join(h, "policy.yaml")) },
		"no ledger":  func(h string) error { return os.Remove(filepath.Join(h, "ledger.log")) },
		"no head":    func(h string) error { return os.Remove(filepath.Join(h, "ledger.head")) },
		"cut ledger": func(h string) error { return os.Truncate(filepath.Join(h, "ledger.log"), 100) },
		"broken policy": func(h string) error {
			return os.WriteFile(filepath.Join(h, "policy.yaml"), []byte("version: [1"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			if err := spoil(home); err != nil {
				t.Fatal(err)
			}
			c, err := Open(home)
			if err == nil {
				_ = c.Close()
				t.Fatal("opened")
			}
			var e *Error
			if !errors.As(err, &e) || e.Message == "" {
				t.Errorf("%v", err)
			}
		})
	}
	if err := Init(filepath.Join(t.TempDir(), "a*b")); codeOf(err) != CodeHome {
		t.Errorf("a home whose path is a pattern: %v", err)
	}
	if err := Init(newHome(t)); err == nil {
		t.Error("a second ledger was made in one home")
	}
}

// A sealed file that was tampered with, or is gone, gives an error without charge or content.
func TestDamagedSeal(t *testing.T) {
	home := newHome(t)
	files, err := filepath.Glob(filepath.Join(home, "sealed", "people*", "v1.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Truncate(files[0], 10); err != nil {
		t.Fatal(err)
	}
	c := openHome(t, home)
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); err == nil {
		t.Error("answered from a damaged file")
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("spent %s", got)
	}
}

// A version's number is never used again for other bytes: a sealed folder that was lost or put back is refused until the
// owner seals, and that makes a new version, whose answers are new.
func TestVersionsAreNotReused(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	first, err := c.Answer(t.Context(), Question{SQL: countSQL})
	if err != nil {
		t.Fatal(err)
	}
	original, err := os.ReadFile(filepath.Join(home, "people.csv"))
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(home, "backup")
	if err := os.Rename(filepath.Join(home, "sealed"), backup); err != nil {
		t.Fatal(err)
	}
	write(t, home, "people.csv", "age,region,height\n1,north,60\n")
	report, err := c.Seal(t.Context(), "people", SealOptions{})
	if err != nil || report.Version != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	second, err := c.Answer(t.Context(), Question{SQL: countSQL})
	if err != nil || second.Replayed || second.ID == first.ID {
		t.Errorf("%+v, %v", second, err)
	}
	if err := os.RemoveAll(filepath.Join(home, "sealed")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup, filepath.Join(home, "sealed")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); codeOf(err) != CodeStale {
		t.Errorf("answered from a restored folder: %v", err)
	}
	write(t, home, "people.csv", string(original)) // unchanged, for the restored manifest
	if report, err = c.Seal(t.Context(), "people", SealOptions{}); err != nil || report.Version != 3 {
		t.Errorf("%+v, %v", report, err)
	}
	if got := spent(t, c); got != "0.2" {
		t.Errorf("spent %s", got)
	}
}

// Several may use a home for the first time at once.
func TestConcurrentSealing(t *testing.T) {
	home := newHome(t)
	write(t, home, "people.csv", "age,region,height\n1,north,60\n")
	var wait sync.WaitGroup
	for range 6 {
		c := openHome(t, home)
		wait.Go(func() {
			if _, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if _, err := openHome(t, home).Answer(t.Context(), Question{SQL: countSQL}); err != nil {
		t.Error(err)
	}
}

// A table that is sealed anew while questions run: each answer is about the version that it was charged for.
func TestSealingWhileAsking(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", `
version: 1
population: {name: test}
budget: {epsilon: 1000}
tables: {people: {source: {csv: people.csv}, unit: row, columns: {age: {type: integer, bounds: [0, 115]}}}}
`)
	c := openHome(t, home)
	sealed := func(version int) { // of 100 rows for each version
		write(t, home, "people.csv", "age\n"+strings.Repeat("30\n", 100*version))
		if report, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil || report.Version != version {
			t.Errorf("version %d: %+v, %v", version, report, err)
		}
	}
	sealed(1)
	var wait sync.WaitGroup
	answers := make(chan *Release, 60)
	for range 3 {
		asker := openHome(t, home)
		wait.Go(func() {
			for answered := 0; answered < 20; {
				r, err := asker.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people", Epsilon: "10", Fresh: true})
				switch {
				case err == nil:
					answers <- r
					answered++
				case codeOf(err) != CodeStale: // else published, and not yet in the ledger: it will be
					t.Error(err)
					return
				}
			}
		})
	}
	for version := 2; version <= 6; version++ {
		sealed(version)
	}
	wait.Wait()
	close(answers)
	charged := map[string]int{}
	err := c.ledger.Entries(func(e ledger.Entry) error {
		if r, ok := e.Body.(ledger.Reservation); ok {
			charged[fmt.Sprintf("r%d", e.Index)] = r.Sources[0].Version
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for r := range answers {
		seen++
		// At ε = 10 the noise is beyond 20 with probability exp(−200).
		if got, want := r.Rows[0][0].Estimate.Value.Real, 100*float64(charged[r.ID]); got < want-20 || got > want+20 {
			t.Errorf("%s was charged for version %d and counts %v rows", r.ID, charged[r.ID], got)
		}
	}
	if seen != 60 {
		t.Errorf("%d answers, not 60", seen)
	}
}

// No file of a home can be read by others.
func TestPrivateFiles(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
