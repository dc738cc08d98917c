package channel_test

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/audit/channel"
)

// rows draws a matrix of rationals, zeros among them.
func rows(t *rapid.T, what string, inputs, outputs int) [][]*big.Rat {
	m := make([][]*big.Rat, inputs)
	for i := range m {
		weights := rapid.SliceOfN(rapid.Int64Range(0, 6), outputs, outputs).Filter(func(w []int64) bool {
			for _, x := range w {
				if x > 0 {
					return true
				}
			}
			return false
		}).Draw(t, fmt.Sprintf("%s%d", what, i))
		total := int64(0)
		for _, w := range weights {
			total += w
		}
		for _, w := range weights {
			m[i] = append(m[i], big.NewRat(w, total))
		}
	}
	return m
}

func of(t *rapid.T, entries [][]*big.Rat) *channel.Matrix {
	m, err := channel.Of(nil, nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// worst is e^ε over some ordered pairs, from the definition; nil if there is none.
func worst(m [][]*big.Rat, pairs [][2]int) *big.Rat {
	most := big.NewRat(1, 1)
	for _, p := range pairs {
		for y := range m[0] {
			switch a, b := m[p[0]][y], m[p[1]][y]; {
			case b.Sign() == 0 && a.Sign() > 0:
				return nil
			case b.Sign() > 0:
				if r := new(big.Rat).Quo(a, b); r.Cmp(most) > 0 {
					most = r
				}
			}
		}
	}
	return most
}

// excess is δ at c = e^ε from the definition: over all events.
func excess(m [][]*big.Rat, pairs [][2]int, c *big.Rat) *big.Rat {
	most := new(big.Rat)
	for _, p := range pairs {
		for event := range 1 << len(m[0]) {
			sum := new(big.Rat)
			for y := range m[0] {
				if event>>y&1 == 1 {
					sum.Add(sum, m[p[0]][y])
					sum.Sub(sum, new(big.Rat).Mul(c, m[p[1]][y]))
				}
			}
			if sum.Cmp(most) > 0 {
				most = sum
			}
		}
	}
	return most
}

// far is an e^ε beyond every ratio of two entries that rows draws.
var far = big.NewRat(1_000_000, 1)

func everyPair(n int) (out [][2]int) {
	for i := range n {
		for j := range n {
			if i != j {
				out = append(out, [2]int{i, j})
			}
		}
	}
	return out
}

func isRat(text string, r *big.Rat) bool {
	got, ok := new(big.Rat).SetString(text)
	return ok && got.Cmp(r) == 0
}

// ε, δ and the least ε are those of the definitions, over all pairs and over listed ones.
func TestDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rows(t, "row", rapid.IntRange(1, 4).Draw(t, "inputs"), rapid.IntRange(1, 4).Draw(t, "outputs"))
		m, all := of(t, entries), everyPair(len(entries))
		a, pairs := channel.AllPairs(), all
		if rapid.Bool().Draw(t, "listed") && len(all) > 0 {
			some := rapid.SliceOf(rapid.SampledFrom(all)).Draw(t, "pairs")
			a, pairs = channel.Pairs(some), nil
			for _, p := range some {
				pairs = append(pairs, p, [2]int{p[1], p[0]})
			}
		}
		l, err := m.Epsilon(a)
		if err != nil {
			t.Fatal(err)
		}
		want := worst(entries, pairs)
		if l.Private() != (want != nil) || want != nil && !isRat(l.Ratio.Exact, want) {
			t.Fatalf("e^ε is %+v, want %v", l, want)
		}
		if w := l.Witness; w.Output != "" {
			p, q := entries[w.Row][w.Column], entries[w.Beside][w.Column]
			if !isRat(w.P, p) || !isRat(w.Q, q) || want != nil && new(big.Rat).Mul(want, q).Cmp(p) != 0 ||
				want == nil && (q.Sign() != 0 || p.Sign() == 0) {
				t.Fatalf("the witness %+v does not show %v", w, want)
			}
		}
		limit, err := m.Limit(a)
		if err != nil || (limit.Upper == 0) != l.Private() || !isRat(limit.Exact, excess(entries, pairs, far)) {
			t.Fatalf("δ stays %+v, %v", limit, err)
		}
		c := big.NewRat(rapid.Int64Range(4, 20).Draw(t, "c"), 4)
		e, err := channel.ParseExponent("ln(" + c.RatString() + ")")
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Delta(a, e)
		if want := excess(entries, pairs, c); err != nil || !isRat(x.Exact, want) {
			t.Fatalf("δ(ln %s) is %+v, %v; want %v", c, x, err, want)
		}
		if own, ok := l.Exponent(); ok {
			if x, err := m.Delta(a, own); err != nil || x.Exact != "0" {
				t.Fatalf("δ at ε is %+v, %v", x, err)
			}
		}
		d := big.NewRat(rapid.Int64Range(0, 12).Draw(t, "delta"), 12)
		r, err := m.Least(a, d)
		if err != nil {
			t.Fatal(err)
		}
		at, ok := r.Exponent()
		if !ok {
			if excess(entries, pairs, far).Cmp(d) <= 0 {
				t.Fatalf("no ε at δ = %v", d)
			}
			return
		}
		x, err = m.Delta(a, at)
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Upper == 0 && excess(entries, pairs, big.NewRat(1, 1)).Cmp(d) > 0, r.Upper > 0 && !isRat(x.Exact, d):
			t.Fatalf("at δ = %v the least is %+v, where δ is %+v", d, r, x)
		}
	})
}

// What is done to an output afterwards never makes ε or δ larger: here, columns are told no longer apart.
func TestPostProcessing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "outputs")
		entries := rows(t, "row", rapid.IntRange(2, 4).Draw(t, "inputs"), n)
		to := rapid.SliceOfN(rapid.IntRange(0, n-1), n, n).Draw(t, "to")
		merged := make([][]*big.Rat, len(entries))
		for i, row := range entries {
			for range n {
				merged[i] = append(merged[i], new(big.Rat))
			}
			for y, p := range row {
				merged[i][to[y]].Add(merged[i][to[y]], p)
			}
		}
		before, err := of(t, entries).Epsilon(channel.AllPairs())
		if err != nil {
			t.Fatal(err)
		}
		after, err := of(t, merged).Epsilon(channel.AllPairs())
		if err != nil || after.Ratio.Lower > before.Ratio.Upper {
			t.Fatalf("ε was %v and is %v, %v", before, after, err)
		}
		e, _ := channel.ExponentOf(big.NewRat(rapid.Int64Range(0, 8).Draw(t, "ε"), 4))
		x, err := of(t, entries).Delta(channel.AllPairs(), e)
		if err != nil {
			t.Fatal(err)
		}
		if y, err := of(t, merged).Delta(channel.AllPairs(), e); err != nil || y.Lower > x.Upper {
			t.Fatalf("δ was %v and is %v, %v", x, y, err)
		}
	})
}

// Two mechanisms on two inputs, either of which may change: their losses add up. Capacities multiply.
func TestComposition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rows(t, "a", 2, 3), rows(t, "b", 3, 2)
		var both [][]*big.Rat
		for _, x := range a {
			for _, y := range b {
				var row []*big.Rat
				for _, p := range x {
					for _, q := range y {
						row = append(row, new(big.Rat).Mul(p, q))
					}
				}
				both = append(both, row)
			}
		}
		one, two := worst(a, everyPair(2)), worst(b, everyPair(3))
		l, err := of(t, both).Epsilon(channel.AllPairs())
		if err != nil {
			t.Fatal(err)
		}
		if none := one == nil || two == nil; none != !l.Private() || !none &&
			!isRat(l.Ratio.Exact, new(big.Rat).Mul(one, two)) {
			t.Fatalf("%v and %v together are %+v", one, two, l)
		}
		capacity := func(m [][]*big.Rat) *big.Rat {
			k, err := of(t, m).Leakage(nil)
			if err != nil {
				t.Fatal(err)
			}
			r, ok := new(big.Rat).SetString(k.Capacity.Exact)
			if !ok {
				t.Fatalf("%+v", k)
			}
			return r
		}
		if got := capacity(both); got.Cmp(new(big.Rat).Mul(capacity(a), capacity(b))) != 0 {
			t.Fatalf("the capacity is %v", got)
		}
	})
}

// Guesses, by the definition, for a prior that is drawn too.
func TestLeakage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rows(t, "row", rapid.IntRange(1, 4).Draw(t, "inputs"), rapid.IntRange(1, 4).Draw(t, "outputs"))
		prior := rows(t, "prior", 1, len(entries))[0]
		texts, before, after, surest := make([]string, len(prior)), new(big.Rat), new(big.Rat), new(big.Rat)
		for i, p := range prior {
			texts[i] = p.RatString()
			if p.Cmp(before) > 0 {
				before = p
			}
		}
		for y := range entries[0] {
			most, all := new(big.Rat), new(big.Rat)
			for x, p := range prior {
				joint := new(big.Rat).Mul(p, entries[x][y])
				all.Add(all, joint)
				if joint.Cmp(most) > 0 {
					most = joint
				}
			}
			after.Add(after, most)
			if all.Sign() > 0 {
				if r := new(big.Rat).Quo(most, all); r.Cmp(surest) > 0 {
					surest = r
				}
			}
		}
		l, err := of(t, entries).Leakage(texts)
		if err != nil {
			t.Fatal(err)
		}
		if !isRat(l.Before.Exact, before) || !isRat(l.After.Exact, after) ||
			!isRat(l.Additive.Exact, new(big.Rat).Sub(after, before)) ||
			!isRat(l.Multiplicative.Exact, new(big.Rat).Quo(after, before)) ||
			l.Multiplicative.Lower > l.Capacity.Upper {
			t.Fatalf("%+v; want %v, %v", l, before, after)
		}
		if f, _ := surest.Float64(); f < l.Surest.After.Lower-1e-15 || f > l.Surest.After.Upper+1e-15 ||
			l.Surest.After.Upper-l.Surest.After.Lower > 1e-12 {
			t.Fatalf("%+v; want %v", l.Surest, surest)
		}
	})
}
