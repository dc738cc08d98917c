package curator

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/ledger"
	"dither/internal/release"
)

// The kernel's primitives, each run on two homes that differ by one person, with the same randomness: what is added cancels,
// so that what is left of the difference is that of the exact answers, and what is charged and recorded can be compared word
// by word. These are exact statements of single pairs, which attain many of the bounds that the plan proves; that no pair is beyond them is what
// package plan shows of exact sums, over thousands of pairs.
//
// The kernel has no seam for this. crypto/rand.Read reads from crypto/rand.Reader, which a test may replace.

const replayPolicy = `
version: 1
population: {name: test, neighbours: %s}
budget: {%s}
%stables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 115]}
      change: {type: integer, bounds: [-10, 4]}
      region: {type: text, values: [north, south], nullable: true}
      height: {type: real, bounds: [50, 250], nullable: true}
  visits:
    source: {csv: visits.csv}
    unit: person
    %s
    columns:
      person: {type: integer}
      cost: {type: integer, bounds: [0, 10]}
      day: {type: text, values: [mon, tue, wed, thu, fri]}
`

// The homes' terms: neighbours, the budget, prices, and the caps of visits.
var (
	pureTerms   = homeTerms{"add-remove", "epsilon: 500", "price: {default: 0.5, maximum: 20}\n", "rows_per_unit: 3"}
	changeTerms = homeTerms{"change-one", pureTerms.budget, pureTerms.price, pureTerms.caps}
	zcdpTerms   = homeTerms{"add-remove", "rho: 5000, delta: 1e-6", "price: {default: {rho: 0.5}, maximum: {rho: 200}}\n", "rows_per_unit: 3"}
	bothTerms   = homeTerms{"change-one", zcdpTerms.budget, zcdpTerms.price, zcdpTerms.caps}
	cappedTerms = homeTerms{"change-one", zcdpTerms.budget, zcdpTerms.price, "rows_per_unit: 6\n    max_groups: 2\n    max_rows_per_group: 1"}
)

type homeTerms struct{ neighbours, budget, price, caps string }

// The neighbour's person has the largest contributions there are, more of them than count, and is the first to have a NULL
// and several rows, so that what was recorded of the sealed files differs too. Under change-one there is somebody else,
// with the smallest, in that place.
const (
	replayPeople = "age,change,region,height\n30,1,north,170.5\n40,2,south,160\n130,-3,north,1e300\n-5,0,north,55\n61,1,south,181\n"
	replayVisits = "person,cost,day\n1,3,mon\n2,20,tue\n3,4,wed\n"
	somebody     = "115,4,south,250\n"
	another      = "0,-10,north,50\n"
	somebodys    = "9,10,mon\n9,10,mon\n9,10,tue\n9,10,wed\n9,10,fri\n"
	anothers     = "8,0,tue\n"
	nobodyKnown  = "115,4,west,NaN\n"
)

// twins are two homes that differ by one person, by side.
type twins [2]*Owner

// newTwins seals two homes of the same terms whose rows are those of replayPeople and replayVisits and the given ones.
func newTwins(t *testing.T, with homeTerms, people, visits [2]string) (out twins) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for side := range out {
		out[side] = with.home(t, people[side], visits[side])
	}
	return out
}

// alone is a home with the rows of replayPeople and replayVisits.
func (with homeTerms) alone(t *testing.T) *Owner {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	return with.home(t, "", "")
}

func (with homeTerms) home(t *testing.T, people, visits string) *Owner {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", fmt.Sprintf(replayPolicy, with.neighbours, with.budget, with.price, with.caps))
	write(t, home, "people.csv", replayPeople+people)
	write(t, home, "visits.csv", replayVisits+visits)
	c := openHome(t, home)
	for _, table := range []string{"people", "visits"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Each primitive, on twins of both relations.
func TestReplay(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":         newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one":         newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, zCDP":   newTwins(t, zcdpTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one, zCDP":   newTwins(t, bothTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, a NULL": newTwins(t, pureTerms, [2]string{"", nobodyKnown}, [2]string{"", somebodys}),
	} {
		for primitive, check := range map[string]func(*testing.T, string, twins){
			"measure": replayMeasure, "answer": replayAnswer, "above": replayAbove, "select": replaySelect, "rank": replayRank, "quantiles": replayQuantiles,
			"moments": replayMoments, "strategies": replayStrategies,
		} {
			if strings.Contains(relation, "NULL") && primitive != "measure" && primitive != "rank" && primitive != "quantiles" {
				continue
			}
			t.Run(relation+"/"+primitive, func(t *testing.T) { check(t, relation, w) })
		}
	}
}

// replay runs what on both, with bytes of a seed. Steps are what reached the ledgers, but for released numbers.
func (w twins) replay(t *testing.T, seed byte, what func(*Owner) ([]*big.Int, error)) *audit.Replayed {
	t.Helper()
	source := mathrand.NewChaCha8([32]byte{seed})
	r, err := audit.Replay(func(side audit.Side, random io.Reader, step func(string)) ([]*big.Rat, error) {
		c := w[side]
		before := len(ledgerOf(t, c))
		system := rand.Reader
		rand.Reader = &unending{random, mathrand.NewChaCha8([32]byte{})}
		defer func() { rand.Reader = system }()
		numbers, err := what(c)
		for _, entry := range ledgerOf(t, c)[before:] {
			step(entry)
		}
		return audit.Integers(numbers...), err
	}, source)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// asked asks both a question with bytes of a seed, and returns the two plans too. numbers are those that are compared.
func (w twins) asked(
	t *testing.T, seed byte, ask func(*Owner) (*asked, error), numbers func(*release.Released) []*big.Int,
) (r *audit.Replayed, plans []*asked) {
	t.Helper()
	r = w.replay(t, seed, func(c *Owner) ([]*big.Int, error) {
		a, err := ask(c)
		if err != nil {
			return nil, err
		}
		s, err := c.measured(t.Context(), a)
		if err != nil {
			return nil, err
		}
		plans = append(plans, a)
		return numbers(s), nil
	})
	return r, plans
}

// asking plans a question as any analyst's.
func asking(q Question) func(*Owner) (*asked, error) {
	return func(c *Owner) (*asked, error) { return c.ask(q) }
}

// allNumbers are the numbers of a release, group by group.
func allNumbers(s *release.Released) (out []*big.Int) {
	for _, row := range s.Numbers {
		out = append(out, row...)
	}
	return out
}

// unending goes on where a recording ends: a program that gets no randomness crashes, and the test is to tell of it instead.
type unending struct{ recording, beyond io.Reader }

func (u *unending) Read(p []byte) (int, error) {
	n, err := u.recording.Read(p)
	if err != nil {
		return u.beyond.Read(p)
	}
	return n, nil
}

// ledgerOf is what an accountant reads: each entry's kind and all that it says, but for released numbers, of which it tells
// how many there are.
func ledgerOf(t *testing.T, c *Owner) (out []string) {
	t.Helper()
	err := c.ledger.Entries(func(e ledger.Entry) error {
		body, err := json.Marshal(e.Body)
		switch b := e.Body.(type) {
		case ledger.Release:
			body = fmt.Appendf(nil, "%d: %s", b.Reservation, shapeOf(b.Values))
		case ledger.Step:
			body = fmt.Appendf(nil, "%d: %s: %s", b.Reservation, b.Question, shapeOf(b.Values))
		}
		out = append(out, fmt.Sprintf("%s %s", e.Kind, body))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shapeOf is how many rows of how many numbers were released.
func shapeOf(values json.RawMessage) string {
	var rows [][]json.RawMessage
	var bounded struct{ Release json.RawMessage }
	if json.Unmarshal(values, &bounded) == nil && bounded.Release != nil {
		return "rows " + shapeOf(bounded.Release)
	}
	var step struct{ Numbers json.RawMessage }
	if json.Unmarshal(values, &step) == nil && step.Numbers != nil {
		return "step of " + shapeOf(step.Numbers)
	}
	if err := json.Unmarshal(values, &rows); err != nil {
		return err.Error()
	}
	var b bytes.Buffer
	for _, row := range rows {
		fmt.Fprint(&b, len(row), " ")
	}
	return b.String()
}

// sameFlow checks that both read the same, and that the same was charged and recorded, in so many entries.
func sameFlow(t *testing.T, what string, r *audit.Replayed, kinds ...string) {
	t.Helper()
	if err := r.SameFlow(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	sameLedger(t, what, r, kinds...)
}

// sameLedger checks that the same was charged and recorded, whatever was read.
func sameLedger(t *testing.T, what string, r *audit.Replayed, kinds ...string) {
	t.Helper()
	if !slices.Equal(r.Data.Steps, r.Neighbor.Steps) {
		t.Errorf("%s: ledgers differ:\n%s\n%s", what, strings.Join(r.Data.Steps, "\n"), strings.Join(r.Neighbor.Steps, "\n"))
	}
	var got []string
	for _, s := range r.Data.Steps {
		kind, _, _ := strings.Cut(s, " ")
		got = append(got, kind)
	}
	if !slices.Equal(got, kinds) || r.Data.Bytes() == 0 {
		t.Errorf("%s: entries %v, %d bytes; want %v", what, got, r.Data.Bytes(), kinds)
	}
}
