package policy_test

import (
	"fmt"
	"math/big"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"dither/internal/policy"
	"dither/privacy"
)

func mustRead(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The digest of one policy is pinned: an encoding that changes must change digestFormat with it, and this line.
func TestDigestIsPinned(t *testing.T) {
	const want = "e905c38959badfe5024eaa08e17ba7f93fbc325b5a8c90dda6dd0d47769d28d9"
	if got := decode(t, string(mustRead(t, "testdata/all.yaml"))).Digest(); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Writing a policy otherwise, without changing what it says, keeps its digest.
func TestDigestOfOneMeaning(t *testing.T) {
	base := `version: 1
population: {name: p}
budget: {epsilon: 2}
tables:
  t:
    source: {csv: t.csv}
    unit: id
    rows_per_unit: 4
    columns:
      id: {type: integer}
      x: {type: real, bounds: [0, 1e3]}
      r: {type: text, values: [a, b, c]}
  d: {public: true, source: {duckdb: d.duckdb}, columns: {z: {type: text}}}
`
	want := decode(t, base).Digest()
	for _, other := range []string{
		strings.Replace(base, "epsilon: 2", "epsilon: 2.00", 1),
		strings.Replace(base, "epsilon: 2}",
			"epsilon: \"20e-1\"}\nprice: {default: 0.1, minimum: 2e-4, maximum: 2}", 1),
		strings.Replace(base, "{name: p}", "{neighbours: add-remove, 'name': \"p\"} # the people", 1),
		strings.Replace(base, "unit: id", "unit: id\n    description: some rows\n    max_groups: 4", 1),
		strings.Replace(base, "{csv: t.csv}",
			"{csv: t.csv, delimiter: ',', quote: '\"', header: true, null: '', gzip: false}", 1),
		strings.Replace(base, "[a, b, c]", "[c, a, b]", 1),
		strings.Replace(base, "[0, 1e3]", "[-0.0, 1000]", 1),
		strings.Replace(base, "id: {type: integer}", "id: {nullable: false, invalid: refuse, type: integer}", 1),
		strings.Replace(base, "d.duckdb}", "d.duckdb, table: d}", 1),
		strings.Replace(base, "      x: {type: real, bounds: [0, 1e3]}\n      r: {type: text, values: [a, b, c]}\n",
			"      r: {type: text, values: [a, b, c]}\n      x: {type: real, description: y, bounds: [0, 1e3]}\n", 1),
		strings.Replace(strings.Replace(base,
			"  d: {public: true, source: {duckdb: d.duckdb}, columns: {z: {type: text}}}\n", "", 1),
			"tables:\n", "tables:\n  d: {columns: {z: {type: text}}, source: {duckdb: d.duckdb}, public: true}\n", 1),
	} {
		if other == base {
			t.Error("nothing was replaced")
		}
		if got := decode(t, other).Digest(); got != want {
			t.Errorf("another digest:\n%s", other)
		}
	}
	elsewhere, err := policy.Decode([]byte(base), "/home/owner")
	if err != nil || elsewhere.Digest() != want {
		t.Error("the folder counts", err)
	}
	headerless := strings.Replace(base, "t.csv", "t.csv, header: false", 1)
	swapped := strings.Replace(headerless,
		"      x: {type: real, bounds: [0, 1e3]}\n      r: {type: text, values: [a, b, c]}\n",
		"      r: {type: text, values: [a, b, c]}\n      x: {type: real, bounds: [0, 1e3]}\n", 1)
	if decode(t, headerless).Digest() == decode(t, swapped).Digest() {
		t.Error("without a header, the columns' order names them")
	}
}

// Every field of every type changes the digest, but for the few that mean nothing to an answer. A new field is found
// here without anybody remembering to.
func TestEveryFieldChangesTheDigest(t *testing.T) {
	ignored := map[string]bool{
		"Table.Description": true, "Column.Description": true, "Source.File": true, "Source.Path": true,
		"Budget.Loss":    true,
		"Column.Zone":    true,                        // Clock.Zone says it
		"Source.Service": true, "Source.URLEnv": true, // Source.Local says both
		"Table.Unranked":  true, // which no policy says: a plan does
		"Policy.Delay":    true, // who sets it keeps all replays
		"Limits.UnitCost": true, // likewise
		// declared totals change no measurement, only what is estimated from one
		"Table.Totals": true, "Total.Column": true, "Total.Value": true, "Total.Count": true,
	}
	p := decode(t, string(mustRead(t, "testdata/all.yaml")))
	want := p.Digest()
	seen := map[string]bool{}
	var walk func(v reflect.Value, name string)
	change := func(v reflect.Value, name string, other any) {
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		v.Set(reflect.ValueOf(other).Convert(v.Type()))
		if changed := p.Digest() != want; changed == ignored[name] {
			t.Errorf("%s: digest changed: %v", name, changed)
		}
		v.Set(before)
		seen[name] = true
	}
	walk = func(v reflect.Value, name string) {
		switch x := v.Interface().(type) {
		case privacy.Epsilon:
			change(v, name, x.Plus(epsilon(t, "0.25")))
			return
		case privacy.Loss:
			change(v, name, x.Plus(pure(t, "0.25")))
			return
		case privacy.Delta:
			d, err := privacy.ParseDelta("0.125")
			if err != nil {
				t.Fatal(err)
			}
			change(v, name, x.Plus(d))
			return
		case *time.Location:
			london, err := time.LoadLocation("Europe/London")
			if err != nil {
				t.Fatal(err)
			}
			change(v, name, london)
			return
		case *big.Rat:
			if x != nil {
				change(v, name, new(big.Rat).Add(x, big.NewRat(1, 3)))
				change(v, name, (*big.Rat)(nil))
			}
			return
		}
		switch v.Kind() {
		case reflect.Struct:
			if v.Type().Name() == "Value" { // the field that counts is the type's
				return
			}
			for i := range v.NumField() {
				if !v.Type().Field(i).IsExported() { // Policy.digest
					continue
				}
				walk(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
			}
		case reflect.Pointer:
			switch {
			case v.IsNil() && name == "Table.Part": // TestSharesChangeTheDigest
				return
			case v.IsNil():
				change(v, name, reflect.New(v.Type().Elem()).Interface())
				return
			}
			walk(v.Elem(), name)
		case reflect.Slice:
			if v.Len() > 0 {
				change(v, name, v.Slice(1, v.Len()).Interface())
			}
			for i := range v.Len() {
				walk(v.Index(i), fmt.Sprintf("%s[%d]", name, i))
			}
		case reflect.Map:
			if name == "Policy.Analysts" { // TestSharesChangeTheDigest
				return
			}
			other := reflect.MakeMap(v.Type())
			other.SetMapIndex(reflect.ValueOf("another"), reflect.Zero(v.Type().Elem()))
			change(v, name, other.Interface())
		case reflect.String:
			change(v, name, v.String()+"'")
		case reflect.Bool:
			change(v, name, !v.Bool())
		case reflect.Int, reflect.Int32, reflect.Int64:
			change(v, name, v.Int()+1)
		default:
			t.Fatalf("%s: a field of kind %s", name, v.Kind())
		}
	}
	walk(reflect.ValueOf(p), "Policy")
	if len(seen) < 30 || p.Digest() != want {
		t.Error("fields seen:", len(seen))
	}
	values := p.Table("Visits").Column("hlthg").Values
	values[0].Int++
	if p.Digest() == want {
		t.Error("a declared value does not count")
	}
}
