package curator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// kernelFiles are the kernel: the one way to rows. Its primitives stand in files of their own.
var kernelFiles = []string{
	"kernel.go", "kernel_ending.go", "look.go", "sequence.go", "reserve.go", "record.go", "instant.go", "rehearsals.go", "underway.go", "tables.go",
	"engines.go", "meet.go", "values.go", "values_kept.go", "planned.go", "noisy.go", "mechanism_names.go", "journal_lock.go",
}

func ofKernel(file string) bool {
	return strings.HasPrefix(file, "primitive_") || slices.Contains(kernelFiles, file)
}

// The kernel needs nothing of the files about it, and they reach neither its engine nor the entries of the ledger that pay for an access and
// record it. One function reserves.
func TestKernelStandsAlone(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	parsed, outside := map[string]*ast.File{}, map[string]string{}
	for _, f := range files {
		name := f.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = file
		if !ofKernel(name) {
			for declared := range file.Scope.Objects { //nolint:staticcheck // it is all that is asked: who declares a name
				outside[declared] = name
			}
		}
	}
	var reserves []string
	for name, file := range parsed {
		for _, i := range file.Unresolved { //nolint:staticcheck // likewise
			if from, ok := outside[i.Name]; ok && ofKernel(name) {
				t.Errorf("%s, of the kernel, names %s of %s", name, i.Name, from)
			}
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, called := range selected(f) {
				switch called {
				case "engine", "sealed", "access", "encode", "session", "OrderCells", "ledger.Release", "ledger.Step", "ledger.Fail", "ledger.GiveUp", "ledger.GiveUpStep":
					if !ofKernel(name) {
						t.Errorf("%s, outside of the kernel, names %s", name, called)
					}
				case "ledger.ReserveFor", "ledger.ReserveNew":
					reserves = append(reserves, name+" "+f.Name.Name)
				}
			}
		}
	}
	slices.Sort(reserves)
	if reserves = slices.Compact(reserves); !slices.Equal(reserves, []string{"reserve.go reserve"}) {
		t.Errorf("the ledger's reservations are made in %v", reserves)
	}
}

// selected are the fields and methods that a function names, those of a ledger with it.
func selected(f *ast.FuncDecl) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		names = append(names, s.Sel.Name)
		if of, ok := s.X.(*ast.SelectorExpr); ok && of.Sel.Name == "ledger" {
			names = append(names, "ledger."+s.Sel.Name)
		}
		return true
	})
	return names
}
