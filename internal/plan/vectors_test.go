package plan_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/privacy"
)

const vectorPolicy = `
version: 1
population: {name: people, neighbours: add-remove}
budget: {epsilon: 100}
price: {default: 1}
tables:
  t: {source: {csv: t.csv}, unit: row, columns: {x: {type: real, bounds: [-1, 1]}, y: {type: real, bounds: [0, 3]}, n: {type: integer, bounds: [0, 100]}, free: {type: real}, b: {type: boolean}, s: {type: text, values: [a, b]}, w: {type: text}}}
  p: {source: {csv: p.csv}, unit: person, rows_per_unit: 4, columns: {person: {type: integer}, x: {type: real, bounds: [-1, 1]}}}
`

func moments(t *testing.T, edit func(string) string, sql string, r plan.VectorRequest) (*plan.Moments, error) {
	t.Helper()
	p, err := policy.Decode([]byte(edit(vectorPolicy)), ".")
	if err != nil {
		t.Fatal(err)
	}
	return plan.BuildMoments(p, plan.Request{SQL: sql}, r)
}

func asItIs(s string) string { return s }

func inRho(s string) string {
	return strings.Replace(s, "{epsilon: 100}", "{rho: 100, delta: 1e-6}", 1)
}

func changeOne(s string) string { return strings.Replace(s, "add-remove", "change-one", 1) }

var (
	one   = plan.SumRequest{Kind: bounded.SumOne}
	first = plan.SumRequest{Kind: bounded.SumFirst}
	gram  = plan.SumRequest{Kind: bounded.SumProduct}
)

// Sensitivities in the coordinates' own units, of textbook cases: with a bound C on a row's norm, within 1e-6 for the grid, C of a sum of vectors and C²
// of their products; and where the ranges alone give less, that.
func TestVectorSensitivities(t *testing.T) {
	block := func(size int, norm bounded.Norm, bound string) []plan.BlockRequest {
		k := plan.BlockRequest{Size: size, Norm: norm}
		if bound != "" {
			k.Bound, _ = new(big.Rat).SetString(bound)
		}
		return []plan.BlockRequest{k}
	}
	two, four := math.Sqrt(2), 4.0
	for name, c := range map[string]struct {
		edit func(string) string
		sql  string
		of   plan.VectorRequest
		want [][2]float64 // of each sum: L1, and L2
	}{
		"l1 scaled":               {asItIs, "SELECT x, y FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL1, "1"), Sums: []plan.SumRequest{one, first, gram}}, [][2]float64{{1, 1}, {1, 1}, {1, 1}}},
		"l1 of the ranges":        {asItIs, "SELECT x, y FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL1, ""), Sums: []plan.SumRequest{first, gram}}, [][2]float64{{4, math.Sqrt(10)}, {13, math.Sqrt(1 + 9 + 81)}}},
		"a bound beyond them":     {asItIs, "SELECT x, y FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL1, "7"), Sums: []plan.SumRequest{first}}, [][2]float64{{4, math.Sqrt(10)}}},
		"l2 scaled":               {inRho, "SELECT x, y FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL2, "1"), Sums: []plan.SumRequest{first, gram}}, [][2]float64{{two, 1}, {1.5, 1}}},
		"l2 scaled, Laplace":      {asItIs, "SELECT x, y FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL2, "1"), Sums: []plan.SumRequest{first, gram}}, [][2]float64{{two, 1}, {1.5, 1}}},
		"four rows":               {inRho, "SELECT x FROM p", plan.VectorRequest{Blocks: block(1, bounded.NormL2, ""), Sums: []plan.SumRequest{one, first, gram}}, [][2]float64{{4, 4}, {4, 4}, {4, 4}}},
		"change-one, one cell":    {changeOne, "SELECT x, y FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL1, ""), Sums: []plan.SumRequest{one, first}}, [][2]float64{{1, 1}, {5, math.Sqrt(13)}}},
		"change-one, groups":      {changeOne, "SELECT x, y FROM t GROUP BY s", plan.VectorRequest{Blocks: block(2, bounded.NormL1, "1"), Sums: []plan.SumRequest{one, first}}, [][2]float64{{2, two}, {2, 2}}},
		"change-one, one sign":    {changeOne, "SELECT y, n FROM t GROUP BY s", plan.VectorRequest{Blocks: block(2, bounded.NormL1, "1"), Sums: []plan.SumRequest{first}}, [][2]float64{{2, two}}},
		"change-one, two ps":      {func(s string) string { return inRho(changeOne(s)) }, "SELECT x, y FROM t GROUP BY s", plan.VectorRequest{Blocks: block(2, bounded.NormL2, "1"), Sums: []plan.SumRequest{first, gram}}, [][2]float64{{2 * two, 2}, {3, two}}},
		"change-one, four of one": {func(s string) string { return inRho(changeOne(s)) }, "SELECT x FROM p", plan.VectorRequest{Blocks: block(1, bounded.NormL2, ""), Sums: []plan.SumRequest{first, gram}}, [][2]float64{{8, 8}, {four, four}}},
		"centres":                 {asItIs, "SELECT x, x FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL1, "1"), Sums: []plan.SumRequest{one, first}, Centres: [][]float64{{0, 0}, {1, 1}}}, [][2]float64{{1, 1}, {1, 1}}},
		"constants":               {asItIs, "SELECT 0, 0.0 FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL2, ""), Sums: []plan.SumRequest{gram}}, [][2]float64{{math.Ldexp(1, -52), math.Ldexp(1, -52)}}},
		"whole numbers":           {asItIs, "SELECT n, 1 FROM t", plan.VectorRequest{Blocks: block(2, bounded.NormL1, ""), Sums: []plan.SumRequest{first, gram}}, [][2]float64{{101, math.Sqrt(10001)}, {10101, math.Sqrt(1e8 + 1e4 + 1)}}},
		"products of two blocks": {
			asItIs, "SELECT x, y, n FROM t",
			plan.VectorRequest{Blocks: append(block(2, bounded.NormL1, "2"), block(1, bounded.NormL1, "")...), Sums: []plan.SumRequest{{Kind: bounded.SumProduct, J: 1}}},
			[][2]float64{{200, 200}},
		},
	} {
		m, err := moments(t, c.edit, c.sql, c.of)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		paid := privacy.Loss{}
		for i, s := range m.Sums {
			unit, _ := m.RowVectors.Unit(&s.VectorSum).Float64()
			l1, _ := new(big.Float).SetInt(s.L1).Float64()
			l2squared, _ := new(big.Float).SetInt(s.L2Squared).Float64()
			got := [2]float64{l1 * unit, math.Sqrt(l2squared) * unit}
			for j, want := range c.want[i] {
				if got[j] < want*(1-1e-9) || got[j] > want*(1+1e-6) {
					t.Errorf("%s: %s: L%d %.9g, want %.9g", name, s.Name(), j+1, got[j], want)
				}
			}
			paid = paid.Plus(s.Loss)
		}
		if !paid.Within(m.Price) || !m.Price.Within(paid) {
			t.Errorf("%s: its parts cost %s, and it %s", name, paid, m.Price)
		}
	}
}

// Blocks' grids are fine beside their norms, and coordinates and their products stay within 64 bits, whatever is asked.
func TestVectorGrids(t *testing.T) {
	for _, c := range []struct {
		sql, bound string
		scaled     bool
	}{
		{"SELECT x, y FROM t", "", false},
		{"SELECT x, y FROM t", "0.001", true},
		{"SELECT x * 1e9, y / 1e9 FROM t", "", false},
		{"SELECT x * 1e9, y / 1e9 FROM t", "1", true},
		{"SELECT n, n * 100000 FROM t", "", false},
		{"SELECT n, n * 1000000000 FROM t", "", false},
		{"SELECT n, n FROM t", "1.5", true},
		{"SELECT n, x FROM t", "99.5", true},
	} {
		for _, norm := range []bounded.Norm{bounded.NormL1, bounded.NormL2} {
			k := plan.BlockRequest{Size: 2, Norm: norm}
			if c.bound != "" {
				k.Bound, _ = new(big.Rat).SetString(c.bound)
			}
			m, err := moments(t, asItIs, c.sql, plan.VectorRequest{Blocks: []plan.BlockRequest{k}, Sums: []plan.SumRequest{gram}})
			if err != nil {
				t.Errorf("%s: %v", c.sql, err)
				continue
			}
			b := m.RowVectors.Blocks[0]
			l1, l2squared := m.Norms(b)
			if exact := b.Grid == 0 && c.sql == "SELECT n, n * 100000 FROM t"; !exact && l2squared.Cmp(new(big.Int).Lsh(big.NewInt(1), 48)) < 0 && l1.BitLen() < 25 {
				t.Errorf("%s, %s %q: norms of only %s, %s grid units", c.sql, norm, c.bound, l1, l2squared)
			}
			if l1.BitLen() > 29 || l2squared.BitLen() > 54 || (b.Scale > 0) != c.scaled || b.Scale > 1<<26 {
				t.Errorf("%s, %s %q: norms of %s, %s grid units, scaled to %d", c.sql, norm, c.bound, l1, l2squared, b.Scale)
			}
			for _, x := range m.Measures {
				if max(-x.Lo, x.Hi) > 1<<60 {
					t.Errorf("%s: a coordinate of %d to %d", c.sql, x.Lo, x.Hi)
				}
			}
		}
	}
}

// What cannot be planned is refused with a reason, and nothing panics.
func TestVectorsRefuse(t *testing.T) {
	blocks := func(sizes ...int) (out []plan.BlockRequest) {
		for _, n := range sizes {
			out = append(out, plan.BlockRequest{Size: n, Norm: bounded.NormL2})
		}
		return out
	}
	bound := func(r *big.Rat) []plan.BlockRequest {
		return []plan.BlockRequest{{Size: 1, Norm: bounded.NormL1, Bound: r}}
	}
	count := []plan.SumRequest{one}
	long := strings.Repeat("x, ", plan.MaxCoordinates) + "x"
	many := make([][]float64, plan.MaxCentres+1)
	for name, c := range map[string]struct {
		sql  string
		of   plan.VectorRequest
		says string
	}{
		"nothing":              {"SELECT x FROM t", plan.VectorRequest{}, "add up to 0"},
		"no sums":              {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1)}, "the sum has nothing to add up"},
		"too few blocks":       {"SELECT x, y FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "add up to 1"},
		"too many":             {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1, 1), Sums: count}, "add up to 2"},
		"a huge block":         {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(math.MaxInt, math.MaxInt), Sums: count}, "add up to"},
		"an empty block":       {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1, 0), Sums: count}, "block 2 is invalid"},
		"a negative block":     {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(2, -1), Sums: count}, "block 2 is invalid"},
		"no norm":              {"SELECT x FROM t", plan.VectorRequest{Blocks: []plan.BlockRequest{{Size: 1, Norm: "l3"}}, Sums: count}, "block 1 is invalid"},
		"a bound of 0":         {"SELECT x FROM t", plan.VectorRequest{Blocks: bound(new(big.Rat)), Sums: count}, "block 1 is invalid"},
		"a tiny bound":         {"SELECT x FROM t", plan.VectorRequest{Blocks: bound(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 5000))), Sums: count}, "is out of range"},
		"a huge bound":         {"SELECT x FROM t", plan.VectorRequest{Blocks: bound(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 5000))), Sums: count}, "is out of range"},
		"a bound far below":    {"SELECT x FROM t", plan.VectorRequest{Blocks: bound(big.NewRat(1, 1<<40)), Sums: count}, "too small for"},
		"no such block":        {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: []plan.SumRequest{{Kind: bounded.SumProduct, J: 1}}}, "no such sum"},
		"a negative one":       {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: []plan.SumRequest{{Kind: bounded.SumFirst, I: -1}}}, "no such sum"},
		"no such kind":         {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: []plan.SumRequest{{Kind: "third"}}}, "no such sum"},
		"twice the same":       {"SELECT x, y FROM t", plan.VectorRequest{Blocks: blocks(1, 1), Sums: []plan.SumRequest{{Kind: bounded.SumProduct, J: 1}, {Kind: bounded.SumProduct, I: 1}}}, "asked for twice"},
		"a weight of 0":        {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: []plan.SumRequest{{Kind: bounded.SumOne, Weight: new(big.Rat)}}}, "a weight is"},
		"a fine weight":        {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: []plan.SumRequest{{Kind: bounded.SumOne, Weight: big.NewRat(1, 3)}}}, "a weight is"},
		"no bounds":            {"SELECT free FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "no declared bounds"},
		"a boolean":            {"SELECT b FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "not a boolean"},
		"a text":               {"SELECT s FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "a number is needed"},
		"NULL":                 {"SELECT NULL FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "a number is needed"},
		"an aggregate":         {"SELECT SUM(x) FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count}, ""},
		"unknown groups":       {"SELECT x FROM t GROUP BY w", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "not known beforehand"},
		"grouping sets":        {"SELECT x FROM t GROUP BY ROLLUP (s)", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "this kind of question takes no"},
		"an order":             {"SELECT x FROM t ORDER BY x", plan.VectorRequest{Blocks: blocks(1), Sums: count}, "this kind of question takes no"},
		"too many coordinates": {"SELECT " + long + " FROM t", plan.VectorRequest{Blocks: blocks(plan.MaxCoordinates + 1), Sums: count}, "more than 100 coordinates"},
		"too many centres":     {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count, Centres: many}, "more than 64 centres"},
		"a short centre":       {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count, Centres: [][]float64{{}}}, "centre 1 has 0"},
		"NaN":                  {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count, Centres: [][]float64{{0}, {math.NaN()}}}, "centre 2 is not a number"},
		"a centre far out":     {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count, Centres: [][]float64{{-1e300}}}, "more than twice as far out"},
		"infinity":             {"SELECT x FROM t", plan.VectorRequest{Blocks: blocks(1), Sums: count, Centres: [][]float64{{math.Inf(1)}}}, "not a number"},
		"centres and groups":   {"SELECT x FROM t GROUP BY s", plan.VectorRequest{Blocks: blocks(1), Sums: count, Centres: [][]float64{{0}}}, "not both"},
		"too many numbers":     {"SELECT " + long[3:] + " FROM t GROUP BY n", plan.VectorRequest{Blocks: blocks(plan.MaxCoordinates), Sums: []plan.SumRequest{gram}}, "more than 200000 numbers"},
	} {
		if m, err := moments(t, asItIs, c.sql, c.of); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v; want %q", name, m, err, c.says)
		}
	}
}

// What a question asks beside its text is refused where it would change nothing, or what it is of.
func TestVectorsRefuseWhatIsForTables(t *testing.T) {
	p, err := policy.Decode([]byte(vectorPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	dear, err := privacy.ParseEpsilon("101")
	if err != nil {
		t.Fatal(err)
	}
	v := plan.VectorRequest{Blocks: []plan.BlockRequest{{Size: 1, Norm: bounded.NormL2}}, Sums: []plan.SumRequest{one}}
	const sql = "SELECT x FROM t GROUP BY s"
	for name, r := range map[string]plan.Request{
		"rows":          {SQL: sql, MaxRows: 1},
		"rows, auto":    {SQL: "SELECT x FROM p", AutoRows: true},
		"groups":        {SQL: sql, MaxGroups: 1},
		"others":        {SQL: sql, Unknown: plan.Unknown{Other: true}},
		"units":         {SQL: sql, Unknown: plan.Unknown{MinUnits: 5}},
		"GoogleSQL":     {SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 2) x FROM p"},
		"min units":     {SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (min_privacy_units_per_group = 7) x FROM t GROUP BY s"},
		"bounds":        {SQL: "SELECT SUM(x, bounds => auto) FROM t"},
		"distinct":      {SQL: "SELECT DISTINCT x FROM t"},
		"a share":       {SQL: "SELECT COUNT(*, epsilon => 0.5) FROM t"},
		"above a price": {SQL: sql, Price: privacy.PureLoss(dear)},
	} {
		if m, err := plan.BuildMoments(p, r, v); err == nil {
			t.Errorf("%s: %s", name, m.Canonical(1))
		}
	}
}

// The canonical text tells apart whatever is released otherwise, and nothing else.
func TestVectorsCanonical(t *testing.T) {
	base := plan.VectorRequest{Blocks: []plan.BlockRequest{{Size: 2, Norm: bounded.NormL2, Bound: big.NewRat(1, 1)}}, Sums: []plan.SumRequest{one, gram}}
	edit := func(f func(*plan.VectorRequest)) plan.VectorRequest {
		r := plan.VectorRequest{Blocks: append([]plan.BlockRequest{}, base.Blocks...), Sums: append([]plan.SumRequest{}, base.Sums...)}
		f(&r)
		return r
	}
	const sql = "SELECT x, y FROM t GROUP BY s, b"
	seen := map[string]string{}
	for _, c := range []struct {
		name, sql, same string
		of              plan.VectorRequest
	}{
		{"base", sql, "", base},
		{"written otherwise", "select T.x AS a, T.y FROM t AS T GROUP BY b, s", "base", base},
		{"weights of 2", sql, "base", edit(func(r *plan.VectorRequest) { r.Sums[0].Weight, r.Sums[1].Weight = big.NewRat(2, 1), big.NewRat(2, 1) })},
		{"another order", "SELECT y, x FROM t GROUP BY s, b", "", base},
		{"another bound", sql, "", edit(func(r *plan.VectorRequest) { r.Blocks[0].Bound = big.NewRat(3, 2) })},
		{"another norm", sql, "", edit(func(r *plan.VectorRequest) { r.Blocks[0].Norm = bounded.NormL1 })},
		{"another sum", sql, "", edit(func(r *plan.VectorRequest) { r.Sums[0] = first })},
		{"another weight", sql, "", edit(func(r *plan.VectorRequest) { r.Sums[0].Weight = big.NewRat(2, 1) })},
		{"a condition", "SELECT x, y FROM t WHERE x > 0 GROUP BY s, b", "", base},
		{"no groups", "SELECT x, y FROM t", "", base},
		{"centres", "SELECT x, y FROM t", "", edit(func(r *plan.VectorRequest) { r.Centres = [][]float64{{0, 0}} })},
		{"other centres", "SELECT x, y FROM t", "", edit(func(r *plan.VectorRequest) { r.Centres = [][]float64{{0, 0.5}} })},
		{"centres on the grid", "SELECT x, y FROM t", "other centres", edit(func(r *plan.VectorRequest) { r.Centres = [][]float64{{1e-12, 0.5}} })},
	} {
		m, err := moments(t, asItIs, c.sql, c.of)
		if err != nil {
			t.Fatal(c.name, err)
		}
		text := m.Canonical(3)
		want := c.same
		if want == "" {
			want = c.name
		}
		if seen[text] == "" {
			seen[text] = c.name
		}
		if seen[text] != want {
			t.Errorf("%s: as %s, want as %s\n%s", c.name, seen[text], want, text)
		}
	}
	m, err := moments(t, asItIs, "SELECT x, y FROM t GROUP BY s, b", base)
	if err != nil || m.Key(1) == m.Key(2) {
		t.Error("versions are not told apart", err)
	}
	if keys := m.GroupKeys(0); len(keys) != 2 || keys[0].String() != "a" {
		t.Errorf("the first cell's keys are %v", keys)
	}
}
