package seal

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

// Values come back as they were noted, of every type that has known values; of a column that was not noted there are
// none, and a file that is not the one that was sealed is not read.
func TestValues(t *testing.T) {
	all := map[string][]value.Value{
		"i": {value.OfInt(-1 << 63), value.OfInt(0), value.OfInt(1<<63 - 1)},
		"t": {value.OfText(""), value.OfText(" a\u2028<&>\"'\\"), value.OfText(strings.Repeat("é", 2048))},
		"b": {value.OfBool(false), value.OfBool(true)},
		"d": {value.OfDay(value.MinDay), value.OfDay(0), value.OfDay(value.MaxDay)},
		"e": {},
	}
	types := map[string]value.Type{
		"i": value.Integer, "t": value.Text, "b": value.Boolean, "d": value.Date,
		"e": value.Text, "x": value.Text,
	}
	sealed := liveJSON{Values: map[string][]string{}, Declared: map[string]string{}}
	for name, values := range all {
		sealed.Values[name], sealed.Declared[name] = []string{},
			declaration(&policy.Column{Name: name, Type: types[name]})
		for _, v := range values {
			sealed.Values[name] = append(sealed.Values[name], v.String())
		}
	}
	text, err := json.Marshal(sealed)
	if err != nil {
		t.Fatal(err)
	}
	v := Version{Table: "t", Number: 1, File: filepath.Join(t.TempDir(), "v1.json"), SHA256: digestOf(string(text))}
	if err := os.WriteFile(v.File, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, of := range types {
		got, noted, err := Values(v, &policy.Column{Name: name, Type: of})
		if _, want := all[name]; err != nil || noted != want || !slices.Equal(got, all[name]) {
			t.Errorf("%s: %v, %v, %v", name, got, noted, err)
		}
	}
	for _, c := range []*policy.Column{
		{Name: "i", Type: value.Integer, Lower: new(big.Rat)},
		{Name: "i", Type: value.Integer, Upper: big.NewRat(1, 2)},
		{Name: "i", Type: value.Date},
		{Name: "i", Type: value.Integer, Values: []value.Value{value.OfInt(3)}},
	} {
		if got, noted, err := Values(v, c); got != nil || noted || err != nil {
			t.Errorf("declared otherwise: %v, %v, %v", got, noted, err)
		}
	}
	if err := os.WriteFile(v.File, []byte(strings.Replace(string(text), "false", "true", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Values(v, &policy.Column{Name: "i", Type: value.Integer}); err == nil {
		t.Error("another file is read")
	}
}
