package quantile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// orderedOf is the ordered multiset of some values.
func orderedOf(values ...int64) mechanism.Ordered {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for _, v := range sorted {
			if !yield(v, 1) {
				break
			}
		}
		return nil
	})
}

// randomNeighbours are a sorted multiset with many ties, and another that a unit's rows lead to.
func randomNeighbours(r *rand.Rand, u mechanism.Unit) (a, b []int64) {
	span := int64(1) << r.IntN(7)
	value := func() int64 { return r.Int64N(2*span+1) - span }
	for range r.IntN(12) {
		a = append(a, value())
	}
	b = slices.Clone(a)
	if u.Neighbours == privacy.ChangeOne {
		for range min(len(b), r.IntN(int(u.MaxRows)+1)) {
			i := r.IntN(len(b))
			b = slices.Delete(b, i, i+1)
		}
	}
	for range r.IntN(int(u.MaxRows) + 1) {
		b = append(b, value())
	}
	slices.Sort(a)
	slices.Sort(b)
	return a, b
}

// neighboursOf lists all multisets of 0 … values−1 that a unit's rows lead to: under AddRemove those with more
// rows, since neighbours are so both ways.
func neighboursOf(data []int64, values int, u mechanism.Unit) [][]int64 {
	found := map[string][]int64{}
	add := func(m []int64) { slices.Sort(m); found[fmt.Sprint(m)] = m }
	add(slices.Clone(data))
	for range u.MaxRows {
		for _, m := range slices.Collect(maps.Values(found)) {
			for i := range m {
				if u.Neighbours == privacy.ChangeOne {
					add(slices.Delete(slices.Clone(m), i, i+1))
				}
			}
		}
	}
	for range u.MaxRows {
		for _, m := range slices.Collect(maps.Values(found)) {
			for v := range int64(values) {
				add(append(slices.Clone(m), v))
			}
		}
	}
	return slices.Collect(maps.Values(found))
}

func TestOrderedRevealsNothing(t *testing.T) {
	data := orderedOf(424242)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%q", "%x"} {
		if got := fmt.Sprintf(verb, data); got != opaque.Redacted {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if _, err := json.Marshal(data); err == nil {
		t.Error("it was encoded")
	}
}

func TestOrderedPasses(t *testing.T) {
	in := Domain{-5, 5}
	pairs := func(pairs ...[2]int64) mechanism.Ordered {
		return mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
			for _, p := range pairs {
				if !yield(p[0], p[1]) {
					return errors.New("stopped")
				}
			}
			return nil
		})
	}
	collect := func(o mechanism.Ordered) (string, int64, error) {
		got := ""
		n, err := each(o, in, func(v, c int64) { got += fmt.Sprint(v, "×", c, " ") })
		return got, n, err
	}
	got, n, err := collect(pairs([2]int64{math.MinInt64, 2}, [2]int64{-5, 1}, [2]int64{0, 0}, [2]int64{1, 1},
		[2]int64{1, 2}, [2]int64{5, 0}, [2]int64{7, 1}, [2]int64{math.MaxInt64, 1}))
	if want := "-5×3 1×3 5×2 "; got != want || n != 8 || err != nil {
		t.Errorf("got %q, %d, %v; want %q", got, n, err, want)
	}
	if got, n, err := collect(mechanism.Ordered{}); got != "" || n != 0 || err != nil {
		t.Errorf("the empty sequence: %q, %d, %v", got, n, err)
	}
	for name, bad := range map[string]mechanism.Ordered{
		"falling":  pairs([2]int64{3, 1}, [2]int64{2, 1}),
		"hidden":   pairs([2]int64{100, 1}, [2]int64{99, 1}), // beyond the domain
		"zero":     pairs([2]int64{3, 0}, [2]int64{2, 1}),
		"negative": pairs([2]int64{3, -1}),
		"many":     pairs([2]int64{1, math.MaxInt64}, [2]int64{2, math.MaxInt64}),
	} {
		if _, _, err := collect(bad); !errors.Is(err, mechanism.ErrOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("disk")
	if _, _, err := collect(mechanism.NewOrdered(func(func(int64, int64) bool) error { return broken })); !errors.Is(
		err, broken) {
		t.Errorf("the scan's error was lost: %v", err)
	}
	calls := int64(0)
	restless := mechanism.NewOrdered(func(yield func(int64, int64) bool) error { calls++; yield(1, calls); return nil })
	rows, _ := countRows(restless, in)
	if err := eachAgain(restless, in, rows, func(int64, int64) {}); !errors.Is(err, mechanism.ErrOrder) {
		t.Errorf("a sequence that changes: %v", err)
	}
}

// relations are the relations that randomized tests run under.
var relations = []mechanism.Unit{
	{Neighbours: privacy.AddRemove, MaxRows: 1},
	{Neighbours: privacy.ChangeOne, MaxRows: 1},
	{Neighbours: privacy.AddRemove, MaxRows: 3},
	{Neighbours: privacy.ChangeOne, MaxRows: 3},
}

// badUnits and badDomains are refused by every mechanism.
var (
	badUnits = []mechanism.Unit{
		{},
		{Neighbours: privacy.AddRemove, MaxRows: 0},
		{Neighbours: privacy.ChangeOne, MaxRows: -1},
		{Neighbours: privacy.Neighbours(7), MaxRows: 1},
		{Neighbours: privacy.AddRemove, MaxRows: math.MaxInt64},
	}
	badDomains = []Domain{{1, 0}, {math.MinInt64, math.MaxInt64}, {-1 << 62, 1 << 62}, {0, math.MaxInt64}}
	goodDomain = Domain{-(1 << 61), 1<<61 - 1}
)

func tinyEpsilon(t testing.TB) privacy.Epsilon {
	t.Helper()
	e, err := privacy.EpsilonOf(new(big.Rat).SetFrac(big.NewInt(1),
		new(big.Int).Exp(big.NewInt(10), big.NewInt(400), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestOrderedReplays has each mechanism draw twice from one recording.
func TestOrderedReplays(t *testing.T) {
	in, u, e := Domain{-50, 50}, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, mechtest.Epsilon(t, "1")
	ranks := []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2)}
	recording := make([]byte, 1<<16)
	r := rand.New(rand.NewPCG(33, 34))
	for i := range recording {
		recording[i] = byte(r.Uint32())
	}
	data := orderedOf(-3, 1, 4, 4, 20, 90)
	for name, release := range map[string]func(*entropy.Source) (OrderStatistics, error){
		"smooth": func(src *entropy.Source) (OrderStatistics, error) { return Smooth{in, u, e}.release(src, data) },
		"recursion": func(src *entropy.Source) (OrderStatistics, error) {
			return Approximate{in, u, ranks, e, false}.release(src, data)
		},
		"independent": func(src *entropy.Source) (OrderStatistics, error) {
			return Independent{in, u, ranks, e}.release(src, data)
		},
		"joint": func(src *entropy.Source) (OrderStatistics, error) {
			return Joint{in, u, ranks, 101, e}.release(src, data)
		},
	} {
		first, second := entropy.Recorded(recording), entropy.Recorded(recording)
		a, err := release(first)
		if err != nil {
			t.Fatal(err)
		}
		b, err := release(second)
		if err != nil || !slices.Equal(a.Values, b.Values) || first.Consumed() != second.Consumed() ||
			first.Consumed() == 0 {
			t.Errorf("%s: %v and %v from %d and %d bytes, %v",
				name, a.Values, b.Values, first.Consumed(), second.Consumed(), err)
		}
	}
}
