package mechanism_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// doors are the exported functions of mechanism/... that take what an engine found: each adds noise, chooses at random,
// or keeps it opaque. A new one is a new mechanism, and has a proof.
var doors = strings.Fields(`
analytic:Gaussian.Measure
learning:Derivatives.Sums learning:Minimiser.Correct learning:Minimiser.Curve learning:Minimiser.Minimum learning:NoisyGradient.Step learning:Perturbed.Minimum learning:TheilSen.Release
linear:Distance.Of linear:Strategy.Apply
mechanism:Cube.Measure mechanism:Gaussian.Measure mechanism:Laplace.Measure mechanism:NewPartition mechanism:RoundedGaussian.Measure mechanism:Staircase.Measure
mechanism:SymmetricGaussian.Measure mechanism:Tulap.Measure
partition:Counts.Select partition:Selection.Select partition:ThresholdGaussian.Measure partition:ThresholdLaplace.Measure
quantile:Approximate.Release quantile:AutomaticBounds.Measure quantile:Cells.Release quantile:Independent.Release
quantile:Joint.Release quantile:Ladder.Release quantile:Single.Release quantile:Smooth.Release quantile:Tree.Measure
response:Category.Respond response:Randomized.Respond
selection:Exponential.Select selection:Exponential.SelectWithin selection:NoisyMax.Select selection:NoisyTop.Select
selection:PermuteAndFlip.Select selection:TopExponential.Select
stream:Continual.Advance stream:Continual.Begin stream:Continual.Recorded stream:HeaderOf stream:Counter.Next stream:SparseSession.Ask
`)

// exports are the exported names of mechanism/... that stand for something of an internal package: types and their
// makers.
var exports = strings.Fields(`
mechanism:Exact mechanism:Ordered mechanism:OrderedCells mechanism:Rows mechanism:RowShape mechanism:Partition
mechanism:Arrivals mechanism:Arrival
linear:ErrParameter mechanism:ErrOrder mechanism:ErrRows mechanism:ErrParameter
`)

// Minimiser's three functions return exact values, opaque still, whose sensitivity it knows. OutputInterval holds exact
// values.
var opaqueTypes = []string{"Exact", "Ordered", "OrderedCells", "Rows", "Arrivals", "Partition", "OutputInterval", "Reader"}

// Every exported function that takes what an engine found is listed, and so is every exported name for something
// internal.
func TestDoorsAreListed(t *testing.T) {
	var taking, standing []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "internal":
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			if i.Name != nil && strings.Contains(i.Path.Value, "mechanism/internal/") {
				t.Errorf("%s calls %s %s: the lists here go by its own name", path, i.Path.Value, i.Name)
			}
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if name := exportedName(decl); name != "" && mentions(decl.Type.Params, opaqueTypes) {
					taking = append(taking, file.Name.Name+":"+name)
				}
			case *ast.GenDecl:
				for _, name := range internals(decl) {
					standing = append(standing, file.Name.Name+":"+name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, lists := range map[string][2][]string{
		"function that takes an exact value": {taking, doors},
		"name for something internal":        {standing, exports},
	} {
		got, want := slices.Sorted(slices.Values(lists[0])), slices.Sorted(slices.Values(lists[1]))
		for _, name := range got {
			if !slices.Contains(want, name) {
				t.Errorf("%s is a %s, and is not listed", name, what)
			}
		}
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s is listed as a %s, and is none", name, what)
			}
		}
	}
}

// exportedName is the name of an exported function, or of an exported method of an exported type.
func exportedName(f *ast.FuncDecl) string {
	if !f.Name.IsExported() {
		return ""
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok && id.IsExported() {
		return id.Name + "." + f.Name.Name
	}
	return ""
}

func mentions(n ast.Node, names []string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains(names, id.Name) {
			found = true
		}
		return true
	})
	return found
}

// internals are the exported names of a declaration that stand for something of opaque or parameter.
func internals(d *ast.GenDecl) (out []string) {
	internal := func(n ast.Node) bool {
		found := false
		ast.Inspect(n, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				id, ok := s.X.(*ast.Ident)
				found = found || ok && (id.Name == "opaque" || id.Name == "parameter")
			}
			return true
		})
		return found
	}
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Assign.IsValid() && internal(s.Type) {
				out = append(out, s.Name.Name)
			}
		case *ast.ValueSpec:
			for i, name := range s.Names {
				if name.IsExported() && i < len(s.Values) && internal(s.Values[i]) {
					out = append(out, name.Name)
				}
			}
		}
	}
	return out
}
