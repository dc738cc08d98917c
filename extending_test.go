package dither_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// extendingPage lists, in two tables, the functions that decide by the kind of noise or by the aggregate function.
const extendingPage = "docs/design/extending.md"

// deciding returns "file: function" for each function outside of tests that decides by one of the names: that compares
// with it, has it in a case, or asserts that a value has this type.
func deciding(t *testing.T, names ...string) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Skip("no git: ", err)
	}
	var found []string
	for _, file := range strings.Fields(string(out)) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(filepath.ToSlash(file), "testdata/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Body != nil && decides(f.Body, names) {
				found = append(found, fmt.Sprintf("%s: %s", file, functionName(f)))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func decides(body ast.Node, names []string) (yes bool) {
	named := func(e ast.Expr) {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			yes = yes || slices.Contains(names, x.Sel.Name)
		case *ast.Ident:
			yes = yes || slices.Contains(names, x.Name)
		case *ast.StarExpr:
			yes = yes || decides(x, names)
		case *ast.CallExpr: // string(plan.Laplace)
			if len(x.Args) == 1 {
				yes = yes || decides(&ast.CaseClause{List: x.Args}, names)
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BinaryExpr:
			if x.Op == token.EQL || x.Op == token.NEQ {
				named(x.X)
				named(x.Y)
			}
		case *ast.CaseClause:
			for _, e := range x.List {
				named(e)
			}
		case *ast.TypeAssertExpr:
			if x.Type != nil {
				named(x.Type)
			}
		}
		return true
	})
	return yes
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	return fmt.Sprint(of) + "." + f.Name.Name
}

// TestExtending compares the page's tables with the functions that branch on an aggregate function or on a kind of
// noise.
func TestExtending(t *testing.T) {
	page, err := os.ReadFile(extendingPage)
	if err != nil {
		t.Fatal(err)
	}
	aggregates, noises, ok := strings.Cut(string(page), "\n## A noise")
	if !ok {
		t.Fatalf("%s lacks the section on noise", extendingPage)
	}
	for _, c := range []struct {
		section string
		names   []string
	}{
		{aggregates, []string{"CountFunc", "SumFunc", "Average"}},
		{noises, []string{"DiscreteLaplace", "DiscreteGaussian", "Laplace", "Gaussian"}},
	} {
		var listed []string
		for line := range strings.Lines(c.section) {
			if row, ok := strings.CutPrefix(line, "| `"); ok {
				place, _, _ := strings.Cut(row, "`")
				listed = append(listed, place)
			}
		}
		found := deciding(t, c.names...)
		if len(found) < 10 {
			t.Errorf("only %d functions branch on %v", len(found), c.names)
		}
		for _, place := range found {
			if !slices.Contains(listed, place) {
				t.Errorf("%s lacks %s, which branches on one of %v", extendingPage, place, c.names)
			}
		}
		for _, place := range listed {
			if !slices.Contains(found, place) {
				t.Errorf("%s names %s, which branches on none of %v", extendingPage, place, c.names)
			}
		}
	}
}
