package postgres

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// crowd is that of 60 other people.
func crowd(heavy int) []enginetest.Row {
	r := rand.New(rand.NewPCG(1, 2))
	return enginetest.Crowd(heavy, 60, r.Int64N, r.NormFloat64)
}

var crowdQuestions = append(slices.Clone(enginetest.CrowdQuestions),
	"SELECT SUM(i - 3) FROM p WHERE k + 0 = 5", // which confines it to no part
	"SELECT s, COUNT(*, contribution_bounds_per_group => (0, 2)), SUM(i, contribution_bounds_per_group => (-3, 4)) FROM p GROUP BY s",
	"SELECT s, COUNT(DISTINCT j), COUNT(DISTINCT j * 0.5) FROM p GROUP BY s",
)

// moved are each measure's distances between the answers on two lists of rows.
func (b *bench) moved(t failer, p *plan.Plan, lists ...[]enginetest.Row) (l1, l2squared []*big.Int) {
	t.Helper()
	cells := map[string][]*big.Int{}
	for sign, rows := range lists {
		b.write(t, p.Table, rows)
		err := b.engine(p.Table).sums(context.Background(), &p.Statement, engine.Sealed{},
			func(keys []value.Value, sums []*big.Int) {
				cell := fmt.Sprintf("%q", keys)
				if cells[cell] == nil {
					for range sums {
						cells[cell] = append(cells[cell], new(big.Int))
					}
				}
				for i, s := range sums {
					if s != nil {
						cells[cell][i].Add(cells[cell][i], new(big.Int).Mul(s, big.NewInt(int64(1-2*sign))))
					}
				}
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range p.Measures {
		l1, l2squared = append(l1, new(big.Int)), append(l2squared, new(big.Int))
		for _, c := range cells {
			l1[i].Add(l1[i], new(big.Int).Abs(c[i]))
			l2squared[i].Add(l2squared[i], new(big.Int).Mul(c[i], c[i]))
		}
	}
	return l1, l2squared
}

// A person with a thousand rows moves no answer by more than the planned sensitivities, on the server itself.
func TestHeavyPerson(t *testing.T) {
	for name, text := range ways {
		b := newBench(t, text("add-remove"))
		rows := crowd(1000)
		for _, question := range crowdQuestions {
			p, err := plan.Build(b.policy, plan.Request{SQL: question})
			if err != nil {
				t.Fatal(err)
			}
			l1, l2 := b.moved(t, p, rows, rows[1000:])
			for i, m := range p.Measures {
				if l1[i].Cmp(m.L1) > 0 || l2[i].Cmp(m.L2Squared) > 0 {
					t.Errorf("%s: %s: %s moves by %s, squared L2 %s; planned %s, %s", name, question, m, l1[i], l2[i], m.L1, m.L2Squared)
				}
				if l1[i].Sign() == 0 {
					t.Errorf("%s: %s: %s does not move at all", name, question, m)
				}
			}
		}
	}
}

// Taking any person out of hostile rows, in any order of rows, moves no answer by more than the planned sensitivities.
func TestNeighbours(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	byGroups, err := policy.Decode(enginetest.ByGroups("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	policies, moves := []*policy.Policy{b.policy, byGroups}, 0
	check := func(t *rapid.T) {
		b.policy = rapid.SampledFrom(policies).Draw(t, "policy")
		p, err := plan.Build(b.policy,
			plan.Request{
				SQL:       enginetest.Question(t, "p"),
				MaxGroups: int64(rapid.IntRange(0, 3).Draw(t, "max groups")),
			})
		if err != nil || p.Part != nil {
			return
		}
		rows := enginetest.Rows(t, b.policy.Table("p"), 16)
		gone := value.OfInt(int64(rapid.IntRange(1, 4).Draw(t, "gone")))
		others := slices.DeleteFunc(slices.Clone(rows), func(r enginetest.Row) bool { return r["person"] == gone })
		slices.Reverse(others)
		l1, l2 := b.moved(t, p, rows, others)
		for i, m := range p.Measures {
			if l1[i].Cmp(m.L1) > 0 || l2[i].Cmp(m.L2Squared) > 0 {
				t.Fatalf("%s: %s: moves by %s, squared L2 %s; planned %s, %s\n%v", p.Table, m, l1[i], l2[i], m.L1, m.L2Squared, rows)
			}
			moves += l1[i].Sign()
		}
	}
	for range 3 { // one in five of a hundred questions moves
		rapid.Check(t, check)
	}
	if moves < 20 {
		t.Errorf("%d answers moved: the test shows nothing", moves)
	}
}

// Neither the order of the rows nor how many processes read them changes a bit of an answer; not even where all hashes
// collide, and what is kept is decided by the columns behind the hash.
func TestOrderAndProcessesDoNotMatter(t *testing.T) {
	t.Run("hashes", func(t *testing.T) { orderDoesNotMatter(t, hashed) })
	t.Run("collisions", func(t *testing.T) { orderDoesNotMatter(t, func(string) string { return integer(0) }) })
}

func orderDoesNotMatter(t *testing.T, hash func(string) string) {
	t.Helper()
	for name, text := range ways {
		b := newBench(t, text("add-remove"))
		rows := crowd(300)
		shuffled := slices.Clone(rows)
		r := rand.New(rand.NewPCG(3, 4))
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		b.engine("p").hash = hash
		first := map[string]map[string]string{}
		for _, order := range [][]enginetest.Row{rows, shuffled} {
			b.write(t, "p", order)
			for _, parallel := range []string{
				"",
				"SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0",
			} {
				b.exec(t, roleSettings(parallel))
				for _, question := range crowdQuestions {
					got, err := b.sums(b.plan(t, question))
					if err != nil || first[question] != nil && !maps.Equal(got, first[question]) {
						t.Errorf("%s: %s: another answer (%v)", name, question, err)
					}
					first[question] = got
				}
				b.exec(t, "ALTER ROLE owner RESET ALL")
			}
		}
	}
}

// roleSettings makes SET statements the owner's for later connections.
func roleSettings(sets string) string {
	if sets == "" {
		return "SELECT 1"
	}
	return "DO $$ BEGIN " + strings.ReplaceAll(sets, "SET ", "ALTER ROLE owner SET ") + "; END $$"
}
