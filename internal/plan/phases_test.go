package plan_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
)

// comparison compares what two runs of a phase give, to the last unexported field. What an expression weighs is computed when it is first asked for, and
// is not compared.
type comparison map[[2]uintptr]bool

func (c comparison) same(at string, a, b reflect.Value) (differs string) {
	if a.Type() == reflect.TypeFor[*policy.Policy]() {
		return ""
	}
	switch a.Kind() {
	case reflect.Pointer:
		pair := [2]uintptr{a.Pointer(), b.Pointer()}
		if pair[0] == pair[1] || c[pair] {
			return ""
		}
		c[pair] = true
		if a.IsNil() || b.IsNil() {
			return at
		}
		return c.same(at, a.Elem(), b.Elem())
	case reflect.Interface:
		if a.IsNil() || b.IsNil() || a.Elem().Type() != b.Elem().Type() {
			if a.IsNil() && b.IsNil() {
				return ""
			}
			return at
		}
		return c.same(at, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if a.Type() == reflect.TypeFor[bounded.Expr]() && name == "size" {
				continue
			}
			if d := c.same(at+"."+name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return at
		}
		for i := range a.Len() {
			if d := c.same(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
	case reflect.Map:
		if a.Len() != b.Len() {
			return at
		}
		for _, k := range a.MapKeys() {
			v := b.MapIndex(k)
			if !v.IsValid() {
				return at
			}
			if d := c.same(fmt.Sprintf("%s[%v]", at, k), a.MapIndex(k), v); d != "" {
				return d
			}
		}
	case reflect.Func, reflect.Chan:
		if !a.IsNil() || !b.IsNil() {
			return at
		}
	default:
		if !a.Equal(b) {
			return at
		}
	}
	return ""
}

// No phase of planning writes to the result of an earlier one: after all phases of a question have run, each result is what the same phase gives
// of the same question when no later phase has run.
func TestPhasesWriteTheirOwnResults(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	check := func(t interface{ Fatalf(string, ...any) }, p *policy.Policy, r plan.Request) {
		all := plan.PhaseResults(p, r, 8)
		if len(all) == 8 {
			planned++
		}
		for i, used := range all[:max(len(all)-1, 0)] {
			fresh := plan.PhaseResults(p, r, i+1)[i]
			if d := (comparison{}).same("", reflect.ValueOf(fresh), reflect.ValueOf(used)); d != "" {
				t.Fatalf("%s: a later phase wrote to the result of phase %d: %s", r.SQL, i+1, d)
			}
		}
	}
	for _, w := range worlds {
		if !w.Relation {
			for _, sql := range []string{
				"SELECT SUM(x, bounds => auto), AVG(i, bounds => auto), COUNT(*) FROM t GROUP BY ROLLUP (b)",
				"SELECT b, MEDIAN(x), MODE() WITHIN GROUP (ORDER BY s), COUNT(*) FROM p GROUP BY CUBE (b, s)",
				"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto) s, COUNT(*) FROM p GROUP BY s",
			} {
				check(t, w.Policy, plan.Request{SQL: sql})
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			r, _, _ := w.Anything(t)
			check(t, w.Policy, r)
		})
	}
	t.Logf("%d questions", planned)
	if planned < 100 {
		t.Errorf("only %d questions were planned", planned)
	}
}

// writers are, for each type of a phase's result, the type of its phase's state and the functions of its phase: they alone may assign to its fields.
var writers = map[string][]string{
	"job":      {},
	"question": {"read"},
	"keyed":    {"keying"},
	"measured": {"measuring", "measureValue", "measureItems"},
	"capped":   {"bounding"},
	"stated":   {"writeStatements"},
	"priced":   {"sharing"},
	"noisy":    {"noising"},
	"draws":    {"noising"},

	"partShares": {"sharing"},

	"unpricedMeasure":   {"measuring", "sumWithin", "coordinate"},
	"unpricedSearch":    {"measuring"},
	"unpricedQuantile":  {"measuring"},
	"unpricedMode":      {"measuring"},
	"unpricedAggregate": {"measuring"},
	"unpricedRows":      {"bounding"},
	"claim":             {"measuring"},
}

// makers are the functions that make a phase's result.
var makers = map[string][]string{
	"question": {"read"},
	"keyed":    {"newKeying"},
	"measured": {"newMeasuring"},
	"capped":   {"boundBy"},
	"stated":   {"writeStatements"},
	"priced":   {"dividePrice"},
	"noisy":    {"chooseNoise"},
}

// No function assigns to a field of a phase's result but those of that phase, and none but the phase itself makes one.
func TestPhasesAssignTheirOwnFields(t *testing.T) {
	files := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, file := range paths {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(files, file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: nothing{}, Error: func(error) {}} // what is imported is not known, and plays no part
	pkg, _ := config.Check("plan", files, parsed, info)
	owner := map[types.Object]string{}
	for name := range writers {
		of, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			t.Fatalf("there is no type %s", name)
		}
		fields := of.Type().Underlying().(*types.Struct)
		for field := range fields.Fields() {
			owner[field] = name
		}
	}
	assignments := map[string]int{}
	for _, f := range parsed {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			by := fn.Name.Name
			if fn.Recv != nil {
				by = receiver(fn.Recv.List[0].Type)
			}
			for _, of := range made(fn) {
				if makers[of] != nil && !slices.Contains(makers[of], by) {
					t.Errorf("%s: %s makes a %s", files.Position(fn.Pos()), by, of)
				}
			}
			for _, target := range targets(fn) {
				for _, sel := range selectors(target) {
					s := info.Selections[sel]
					if s == nil || owner[s.Obj()] == "" {
						continue
					}
					of := owner[s.Obj()]
					assignments[of]++
					if !slices.Contains(writers[of], by) {
						t.Errorf("%s: %s assigns to %s, a field of %s", files.Position(target.Pos()), by, s.Obj().Name(), of)
					}
				}
			}
		}
	}
	for _, of := range []string{"keyed", "measured", "capped", "stated", "priced", "noisy"} {
		if assignments[of] == 0 {
			t.Errorf("no assignment to a field of %s was found: the test sees less than there is", of)
		}
	}
}

// nothing imports packages without contents.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// receiver returns the name of a receiver's type.
func receiver(x ast.Expr) string {
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	name, _ := x.(*ast.Ident)
	return name.Name
}

// targets returns the expressions that a function assigns to.
func targets(fn *ast.FuncDecl) (out []ast.Expr) {
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				out = append(out, n.Lhs...)
			}
		case *ast.IncDecStmt:
			out = append(out, n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				out = append(out, n.Key, n.Value)
			}
		}
		return true
	})
	return out
}

// made returns the names of the types of which a function writes a literal.
func made(fn *ast.FuncDecl) (out []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if c, ok := n.(*ast.CompositeLit); ok {
			if name, ok := c.Type.(*ast.Ident); ok {
				out = append(out, name.Name)
			}
		}
		return true
	})
	return out
}

// selectors returns the selections on the way to what is assigned: of b.keyed.keys[0].Expr all three.
func selectors(x ast.Expr) (out []*ast.SelectorExpr) {
	for {
		switch y := x.(type) {
		case *ast.SelectorExpr:
			out = append(out, y)
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		default:
			return out
		}
	}
}
