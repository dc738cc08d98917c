package mechanism_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dither/mechanism"
)

// outsider is what anybody may do with what an engine found: make it, hand it on, add numbers up.
const outsider = `package outside

import (
	"math/big"

	"dither/mechanism"
)

func use(*mechanism.Rows, mechanism.Ordered, mechanism.OrderedCells, mechanism.Partition) mechanism.Exact {
	return mechanism.NewExact(big.NewInt(1)).Plus(mechanism.NewExact(big.NewInt(2)))
}
`

// attempts are bodies of programs that try to open what an engine found. Reflection, package unsafe and linker
// directives are out of scope: they ask no type system, and arch_test keeps unsafe out of the house.
var attempts = map[string]string{
	"a field":                         "func open(e mechanism.Exact) any { return e.v }",
	"an exported field":               "func open(e mechanism.Exact) any { return e.V }",
	"a method Open":                   "func open(e mechanism.Exact) any { return e.Open() }",
	"a method Int":                    "func open(e mechanism.Exact) any { return e.Int() }",
	"a method Big":                    "func open(e mechanism.Exact) any { return e.Big() }",
	"a method Value":                  "func open(e mechanism.Exact) any { return e.Value() }",
	"a method of a pointer":           "func open(e *mechanism.Exact) any { return e.Open() }",
	"a method expression":             "var open = mechanism.Exact.Open",
	"a function beside the alias":     "func open(e mechanism.Exact) any { return mechanism.Open(e) }",
	"embedding":                       "type mine struct{ mechanism.Exact }\nfunc (m mine) open() any { return m.v }",
	"embedding a pointer":             "type mine struct{ *mechanism.Exact }\nfunc (m mine) open() any { return m.Open() }",
	"a type of its own":               "type mine mechanism.Exact\nfunc open(e mechanism.Exact) any { return mine(e).v }",
	"a method on the alias":           "func (e mechanism.Exact) Open() any { return e.v }",
	"conversion to an integer":        "func open(e mechanism.Exact) any { return (*big.Int)(e) }",
	"conversion to a twin":            "type twin struct{ v *big.Int }\nfunc open(e mechanism.Exact) any { return twin(e).v }",
	"conversion to a larger twin":     "type redacted struct{}\ntype twin struct { redacted; v *big.Int }\nfunc open(e mechanism.Exact) any { return twin(e).v }",
	"conversion of a pointer":         "type twin struct{ v *big.Int }\nfunc open(e *mechanism.Exact) any { return (*twin)(e).v }",
	"an interface":                    "var open interface{ Open() *big.Int } = mechanism.Exact{}",
	"a type parameter":                "func get[T ~struct{ v *big.Int }](t T) {}\nfunc open(e mechanism.Exact) { get(e) }",
	"a literal's field":               "func open(e mechanism.Exact) any { return mechanism.Exact{v: nil} }",
	"ranging over values":             "func open(o mechanism.Ordered) { for v := range o { _ = v } }",
	"the scan of values":              "func open(o mechanism.Ordered) { _ = o.scan(func(int64, int64) bool { return true }) }",
	"a function that scans":           "func open(o mechanism.Ordered) { _, _ = mechanism.Scan(o, 0, 1, nil) }",
	"the scan of cells":               "func open(o mechanism.OrderedCells) { _ = o.scan(nil) }",
	"a partition's key":               "func open(p mechanism.Partition) any { return p.key }",
	"a method for the key":            "func open(p mechanism.Partition) any { return p.Key() }",
	"a partition's number":            "func open(p mechanism.Partition) any { return p.Exact.v }",
	"a maker of its own":              "func init() { mechanism.NewExact = func(*big.Int) (e mechanism.Exact) { return e } }",
	"a maker of values of its own":    "func init() { mechanism.NewOrdered = nil }",
	"a maker of cells of its own":     "func init() { mechanism.NewOrderedCells = nil }",
	"a maker of rows of its own":      "func init() { mechanism.NewRows = nil }",
	"a maker of keys of its own":      "func init() { mechanism.NewPartition = nil }",
	"the buffer of rows":              "func open(r *mechanism.Rows) any { return r.buffer }",
	"reading rows":                    "func open(r *mechanism.Rows) { _, _ = r.Read(0, 1, nil) }",
	"the reader of rows":              "func open(r *mechanism.Rows) any { return (*mechanism.Reader)(r) }",
	"rows converted to what they are": "type twin struct{ buffer []byte }\nfunc open(r *mechanism.Rows) any { return (*twin)(r).buffer }",
}

// intruder imports the package that opens.
const intruder = `package outside

import (
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

func open(e mechanism.Exact) any { return opaque.Open(e) }
`

// No program outside mechanism/... that opens an exact value compiles: neither by a field, a method, embedding, a
// conversion, an interface, a type parameter nor the internal package.
func TestOutsidersCannotOpen(t *testing.T) {
	programs := map[string]string{"control": outsider, "intruder": intruder}
	names := map[string]string{}
	for what, body := range attempts {
		dir := fmt.Sprintf("try%02d", len(names))
		names[dir] = what
		imports := "import \"dither/mechanism\"\n\n"
		if strings.Contains(body, "big.") {
			imports = "import (\n\t\"math/big\"\n\n\t\"dither/mechanism\"\n)\n\n"
		}
		programs[dir] = "package outside\n\n" + imports + body + "\n"
	}
	build := outsidePrograms(t, programs)
	if out, err := build("control"); err != nil {
		t.Fatalf("a program that opens nothing does not compile, so the others show nothing: %v\n%s", err, out)
	}
	if out, err := build("intruder"); err == nil ||
		!strings.Contains(out, "use of internal package dither/mechanism/internal/opaque not allowed") {
		t.Errorf("the internal package: %v\n%s", err, out)
	}
	out, err := build(slices.Sorted(func(yield func(string) bool) {
		for dir := range names {
			if !yield(dir) {
				return
			}
		}
	})...)
	if err == nil {
		t.Error("every program compiles")
	}
	refused := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# dither/outside-of-mechanism/(\w+)`).FindAllStringSubmatch(out, -1) {
		refused[m[1]] = true
	}
	for dir, what := range names {
		if !refused[dir] {
			t.Errorf("an outsider can open an exact value by %s:\n%s", what, programs[dir])
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// outsidePrograms lays packages over the module, without writing into it, and returns a builder of some of them.
func outsidePrograms(t *testing.T, programs map[string]string) func(names ...string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	replace := map[string]string{}
	for name, text := range programs {
		file := filepath.Join(scratch, name+".go")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, "outside-of-mechanism", name, "outside.go")] = file
	}
	overlay := filepath.Join(scratch, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(names ...string) (string, error) {
		args := []string{"build", "-overlay", overlay}
		for _, name := range names {
			args = append(args, "./outside-of-mechanism/"+name)
		}
		c := exec.Command("go", args...)
		c.Dir = root
		out, err := c.CombinedOutput()
		return string(out), err
	}
}

// The exported methods of what an engine found are these, and none returns what is inside.
func TestOpaqueTypesHaveNoDoor(t *testing.T) {
	closed := []string{
		"Format", "GoString", "GobEncode", "LogValue", "MarshalBinary", "MarshalJSON",
		"MarshalText", "String",
	}
	for _, c := range []struct {
		value any
		more  []string
	}{
		{new(mechanism.Exact), []string{"Plus"}},
		{new(mechanism.Ordered), nil},
		{new(mechanism.OrderedCells), nil},
		{new(mechanism.Partition), []string{"Plus"}}, // of its number
		{new(mechanism.Rows), []string{"Add", "Close", "Seal"}},
	} {
		of, want := reflect.TypeOf(c.value), slices.Sorted(slices.Values(append(c.more, closed...)))
		var got []string
		for i := range of.NumMethod() {
			got = append(got, of.Method(i).Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v has the methods %v, and not %v", of, got, want)
		}
		for i := range of.Elem().NumField() {
			if f := of.Elem().Field(i); f.IsExported() && f.Type != reflect.TypeFor[mechanism.Exact]() {
				t.Errorf("%v has the exported field %s", of, f.Name)
			}
		}
	}
}
