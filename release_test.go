package dither_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// namers are the only packages, outside tests, whose code names these: whatever makes exact values, opens a ledger, or
// opens the kernel to a test. The packages below a name count as well.
var namers = map[string][]string{
	"mechanism.NewExact": exactMakers, "mechanism.NewOrdered": exactMakers, "mechanism.NewOrderedCells": exactMakers, "mechanism.NewRows": exactMakers,
	"mechanism.NewPartition": exactMakers,
	"ledger.Open":            {"internal/release", "internal/cli/owner"}, // the latter for the owner's verbs
	"release.OpenForTests":   {}, "release.OpenTrainingForTests": {},
}

// exactMakers make exact values: engines of rows, the kernel of room for rows, and audits of values that they know.
var exactMakers = []string{"internal/engine", "internal/release", "audit", "mechanism", "internal/cli/laboratory"}

// chargers are the methods of a ledger that reserve a price or record what came of it.
var chargers = []string{"Reserve", "ReserveFor", "ReserveNew", "Release", "Step", "Fail", "GiveUp", "GiveUpStep", "MakeRoom"}

// Only the kernel reaches exact values and pays for them. Imports say most of it (wardens); this says the rest.
func TestTheKernelAloneReadsRows(t *testing.T) {
	found := map[string]bool{}
	for folder, files := range sources(t, ".") {
		for _, file := range files {
			imported := importedAs(file)
			if imported["."] != "" {
				t.Errorf("%s imports all names of %s: what it names is not seen", folder, imported["."])
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := s.X.(*ast.Ident)
				if !ok || imported[x.Name] == "" {
					if folder == "internal/cli/owner" && slices.Contains(chargers, s.Sel.Name) {
						t.Errorf("%s names %s: the owner's verbs neither pay nor record", folder, s.Sel.Name)
					}
					return true
				}
				name := filepath.Base(imported[x.Name]) + "." + s.Sel.Name
				may, known := namers[name]
				below := func(p string) bool { return folder == p || strings.HasPrefix(folder, p+"/") }
				if found[name] = true; known && !slices.ContainsFunc(may, below) {
					t.Errorf("%s may not name %s", folder, name)
				}
				return true
			})
		}
	}
	for name, may := range namers {
		if len(may) > 0 && !found[name] {
			t.Errorf("nobody names %s: the test is wrong", name)
		}
	}
}

// One function reserves.
func TestOneFunctionReserves(t *testing.T) {
	var reserve []string
	for name, file := range sources(t, "internal/release")["internal/release"] {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Reserve", "ReserveFor", "ReserveNew"}, s.Sel.Name) {
					reserve = append(reserve, name+" "+f.Name.Name)
				}
				return true
			})
		}
	}
	slices.Sort(reserve)
	if reserve = slices.Compact(reserve); !slices.Equal(reserve, []string{"reserve.go reserve"}) {
		t.Errorf("the ledger's reservations are made in %v", reserve)
	}
}

// No exported signature of the public API names an internal package: nobody outside could write its types down.
func TestPublicSignatures(t *testing.T) {
	for _, folder := range []string{"curator"} {
		for name, file := range sources(t, folder)[folder] {
			imported := importedAs(file)
			internals := func(what string, n ast.Node) {
				ast.Inspect(n, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := s.X.(*ast.Ident); ok && strings.Contains(imported[x.Name], "internal/") {
							t.Errorf("%s/%s: %s names %s.%s", folder, name, what, x.Name, s.Sel.Name)
						}
					}
					return true
				})
			}
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
						internals(d.Name.Name, d.Type)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
							exportedPart(s, func(n ast.Node) { internals(s.Name.Name, n) })
						}
						if s, ok := s.(*ast.ValueSpec); ok && s.Type != nil && s.Names[0].IsExported() {
							internals(s.Names[0].Name, s.Type)
						}
					}
				}
			}
		}
	}
}

// exportedPart visits what of a type is exported: a struct's exported and embedded fields, or all of another type.
func exportedPart(s *ast.TypeSpec, visit func(ast.Node)) {
	of, ok := s.Type.(*ast.StructType)
	if !ok {
		visit(s.Type)
		return
	}
	for _, f := range of.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			visit(f.Type)
		}
	}
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			n = f.Type
		}
		switch n := n.(type) {
		case *ast.StarExpr:
			if i, ok := n.X.(*ast.Ident); ok {
				name = i.Name
			}
		case *ast.Ident:
			name = n.Name
		}
		return name == ""
	})
	return name
}

// sources are the files at a folder and below it that are no tests, by folder and name.
func sources(t *testing.T, root string) map[string]map[string]*ast.File {
	t.Helper()
	out, fset := map[string]map[string]*ast.File{}, token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".") || path == "tools") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		if out[folder] == nil {
			out[folder] = map[string]*ast.File{}
		}
		out[folder][d.Name()] = file
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// importedAs gives the project's imports of a file by the names that the file has for them.
func importedAs(file *ast.File) map[string]string {
	out := map[string]string{}
	for _, i := range file.Imports {
		path, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "dither/")
		if !ours {
			continue
		}
		name := filepath.Base(path)
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = path
	}
	return out
}
