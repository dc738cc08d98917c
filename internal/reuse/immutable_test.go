package reuse_test

import (
	"math/big"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/reuse"
	"dither/internal/stattest"
)

// Nothing writes to a plan once it is built: after every public function of it was called from several goroutines at once, it is
// still, to the last unexported field, what planning the same question a second time gives. Under the race detector a write that
// puts back what was there is found, too.
func TestPlansAreNeverWritten(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	stattest.ShortCases(t, 20) // the race detector makes each case some ten times slower
	kinds := []string{"sets", "quantiles", "modes", "open", "found", "rows", "relation", "followable"}
	seen := map[string]int{}
	lacking := func() bool { return slices.ContainsFunc(kinds, func(kind string) bool { return seen[kind] == 0 }) }
	for i, w := range worlds {
		var earlier *plan.Plan
		check := func(t interface{ Fatalf(string, ...any) }, r plan.Request) {
			p, err := plan.Build(w.Policy, r)
			if err != nil {
				return
			}
			same, err := plan.Build(w.Policy, r)
			if err != nil || !reflect.DeepEqual(p, same) {
				t.Fatalf("%s is planned in two ways (%v)", r.SQL, err)
			}
			of := earlier
			if of == nil {
				of = p
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { use(p, of) })
			}
			all.Go(func() { _, _ = plan.Build(w.Policy, r) }) // which shares no more than the policy
			all.Wait()
			if !reflect.DeepEqual(p, same) {
				t.Fatalf("the plan of %s was written to", r.SQL)
			}
			for kind, is := range map[string]bool{
				"sets": p.Sets != nil, "quantiles": len(p.Quantiles) > 0, "modes": len(p.Modes) > 0, "open": p.Open(),
				"found": len(p.Searches) > 0, "rows": p.Rows != nil, "relation": p.Source != nil, "followable": reuse.Followable(p),
			} {
				if is {
					seen[kind]++
				}
			}
			if reuse.Followable(p) {
				earlier = p
			}
		}
		if !w.Relation {
			for _, sql := range []string{
				"SELECT SUM(x, bounds => auto), AVG(i, bounds => auto), COUNT(*) FROM t GROUP BY ROLLUP (b)",
				"SELECT b, MEDIAN(x), MODE() WITHIN GROUP (ORDER BY s), COUNT(*) FROM p GROUP BY CUBE (b, s)",
				"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto) s, COUNT(*) FROM p GROUP BY s",
				"SELECT COALESCE(s, 'a'), COUNT(*), SUM(i) FROM t WHERE x > 1 AND b GROUP BY ROLLUP (COALESCE(s, 'a'), k)",
			} {
				check(t, plan.Request{SQL: sql})
			}
		}
		last := i == len(worlds)-1
		for round := 0; round == 0 || last && round < 60 && lacking() && !t.Failed(); round++ {
			rapid.Check(t, func(t *rapid.T) {
				r, _, _ := w.Anything(t)
				check(t, r)
			})
		}
	}
	for _, kind := range kinds {
		if seen[kind] == 0 {
			t.Errorf("no plan with %s: the test shows less than it says", kind)
		}
	}
	t.Log(seen)
}

// use calls all that there is to ask of a plan.
func use(p, earlier *plan.Plan) {
	for _, q := range append(p.Orders(), p) {
		of := reflect.ValueOf(q)
		for i := range of.NumMethod() {
			if args, ok := arguments(q, of.Type().Method(i)); ok {
				of.Method(i).Call(args)
			}
		}
	}
	for _, q := range append(p.Orders(), earlier) {
		reuse.Followable(q)
		reuse.Marks(q)
		reader := reuse.NewReader(q)
		reader.Tells(p)
		reader.Tells(q)
		reuse.NewReader(p).Tells(q)
	}
	reuse.MarkAtAnyPrice(p, 1, 2, 3, 4, 5, 6, 7, 8)
	answer, err := derive.New(p)
	if err != nil {
		return
	}
	answer.Ahead(0.05)
	for _, o := range p.Outputs {
		if o.Post != nil {
			answer.Forecast(o, 0.05, 10)
			answer.Parts(o)
		}
	}
	answer.From([]*derive.Earlier{{Plan: earlier}}, false, false)
}

// wanting are types of which a plan may have nothing.
var wanting = []reflect.Type{
	reflect.TypeFor[*plan.Quantile](), reflect.TypeFor[*plan.Mode](), reflect.TypeFor[*bounded.Measure](), reflect.TypeFor[plan.Output](),
}

// arguments are some that a method takes; false where the plan has none.
func arguments(p *plan.Plan, m reflect.Method) (out []reflect.Value, ok bool) {
	switch m.Name { // those that take places or numbers
	case "KeyText":
		return []reflect.Value{reflect.ValueOf(0)}, len(p.Keys) > 0 && len(p.Outputs) > 0 // none of a set
	case "Whole":
		return []reflect.Value{reflect.ValueOf(0)}, len(p.Keys) > 0
	case "CellKeys":
		return []reflect.Value{reflect.ValueOf(0)}, p.Cells() > 0
	case "WithRows":
		return []reflect.Value{reflect.ValueOf(int64(1))}, true
	case "Group":
		return []reflect.Value{reflect.ValueOf("")}, true
	case "Certain":
		if len(p.Keys) == 0 {
			return nil, false
		}
		return []reflect.Value{reflect.ValueOf(p.Keys[0].Expr)}, true
	case "Canonical", "Key":
		for range p.Tables() {
			out = append(out, reflect.ValueOf(1))
		}
		return out, true
	case "Found":
		least, most := make([]*big.Int, len(p.Measures)), make([]*big.Int, len(p.Measures))
		for j := range least {
			least[j], most[j] = big.NewInt(-3), big.NewInt(5)
		}
		return []reflect.Value{reflect.ValueOf(least), reflect.ValueOf(most)}, true
	}
	for i := 1; i < m.Type.NumIn(); i++ {
		var v any
		switch in := m.Type.In(i); {
		case in == reflect.TypeFor[float64]():
			v = 0.05
		case in == reflect.TypeFor[plan.Grouping]():
			v = p.Groupings()[0]
		case in == reflect.TypeFor[plan.Output]() && len(p.Outputs) > 0:
			v = p.Outputs[0]
		case in == reflect.TypeFor[*plan.Quantile]() && len(p.Quantiles) > 0 && p.Quantiles[0].Sensitivity != nil: // not of each set
			v = p.Quantiles[0]
		case in == reflect.TypeFor[*plan.Mode]() && len(p.Modes) > 0:
			v = p.Modes[0]
		case in == reflect.TypeFor[*bounded.Measure]() && len(p.OrderedValues()) > 0:
			v = p.OrderedValues()[0]
		case slices.Contains(wanting, in):
			return nil, false
		case in.Kind() == reflect.Func && in.NumOut() == 0: // such as Expressions calls
			out = append(out, reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value { return nil }))
			continue
		default: // no plan has one
			out = append(out, reflect.Zero(in))
			continue
		}
		out = append(out, reflect.ValueOf(v))
	}
	return out, true
}
