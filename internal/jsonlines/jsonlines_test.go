package jsonlines_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"dither/internal/csvtable"
	"dither/internal/jsonlines"
	"dither/internal/policy"
	"dither/internal/value"
)

func columns(nullable bool, invalid policy.Invalid) []*policy.Column {
	return []*policy.Column{
		{Name: "n", Type: value.Integer, Nullable: nullable, Invalid: invalid},
		{Name: "x", Type: value.Real, Nullable: nullable, Invalid: invalid},
		{Name: "t", Type: value.Text, Nullable: nullable, Invalid: invalid},
		{Name: "b", Type: value.Boolean, Nullable: nullable, Invalid: invalid},
		{Name: "d", Type: value.Date, Nullable: nullable, Invalid: invalid},
	}
}

// all reads every row, as texts.
func all(text string, cs []*policy.Column) (rows []string, r *jsonlines.Reader, err error) {
	r, err = jsonlines.New(strings.NewReader(text), cs)
	if err != nil {
		return nil, nil, err
	}
	row := make([]value.Value, len(cs))
	for {
		if err := r.Read(row); err != nil {
			if again := r.Read(row); !errors.Is(again, err) {
				return nil, r, errors.New("another error the second time")
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return rows, r, err
		}
		var texts []string
		for i, v := range row {
			if v.Type != cs[i].Type {
				return nil, r, errors.New("a value of another type")
			}
			texts = append(texts, v.String())
		}
		rows = append(rows, strings.Join(texts, " "))
	}
}

func TestRead(t *testing.T) {
	text := "\ufeff" + `{"n": 1, "x": 1.5e2, "t": "a\"\u00e4\ud83d\ude00\\u", "b": true, "d": "2025-01-31"}` + "\r\n" +
		`{"d":null,"other":{"n":[1,{"n":2}]},"b":false,"x":-0,"n":-9223372036854775808,"t":""}` + "\n" +
		`{}` + "\n" + `  {"x": 3, "more": 1}  ` + "\n\n"
	rows, r, err := all(text, columns(true, policy.InvalidRefused))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`1 150 a"ä😀\u true 2025-01-31`, "-9223372036854775808 -0  false NULL", "NULL NULL NULL NULL NULL",
		"NULL 3 NULL NULL NULL",
	}
	if got := strings.Join(rows, "|"); got != strings.Join(want, "|") {
		t.Errorf("%s\nwant %s", got, strings.Join(want, "|"))
	}
	if got := strings.Join(r.Ignored(), " "); got != "other more" || r.Row() != 4 {
		t.Errorf("ignored %s, %d rows", got, r.Row())
	}
	if rows, _, err := all("", columns(false, policy.InvalidRefused)); err != nil || len(rows) != 0 {
		t.Errorf("an empty file: %v, %v", rows, err)
	}
	if _, err := jsonlines.New(strings.NewReader(""), nil); err == nil {
		t.Error("no columns")
	}
}

// One reading finds the faults of all columns.
func TestAllFaultsAreListed(t *testing.T) {
	_, _, err := all(`{"n": 1, "x": 1, "t": "a", "b": true, "d": "2025-01-31"}
{"n": 1.5, "x": 1, "t": null, "b": true, "d": "2025-01-31"}
{"n": 2.5, "x": 1, "t": "a", "b": 1}
`, columns(false, policy.InvalidRefused))
	const want = `4 columns have faults:
- column "n", 2 fields in rows 2, 3 (the first on line 2): the field is not a value of type integer: ` +
		`it has a decimal point or an exponent: check whether the column should have type real
- column "t", 1 field in row 2 (the first on line 2): the value is null, but the column is not declared nullable
- column "b", 1 field in row 3 (the first on line 3): the value is a number, but the column has type boolean
- column "d", 1 field in row 3 (the first on line 3): the object has no such key, and the column is not declared nullable`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// What is refused, where, and in words that quote nothing of it.
func TestRefusals(t *testing.T) {
	const whole = `{"n":1,"x":1,"t":"secret","b":true,"d":"2025-01-31"}`
	for text, want := range map[string]string{
		`[1]`:                                  "row 1, line 1: the line is not a JSON object",
		`1`:                                    "the line is not a JSON object",
		`{"n":1`:                               "ends too early",
		`{"n":secret}`:                         "not JSON",
		`{"n":1}{"n":2}`:                       "more than one object",
		whole + whole:                          "more than one object",
		whole + " x":                           "more than one object",
		"\n" + whole:                           "row 1, line 1: the line is empty",
		whole + "\n\n\n":                       "row 2, line 2: the line is empty",
		"{\"t\":\"\xff\"}":                     "not valid UTF-8",
		`{"t":"\ud800"}`:                       "half of a surrogate pair",
		`{"\udc00":1}`:                         "half of a surrogate pair",
		`{"t":"\\\ud83d\n"}`:                   "half of a surrogate pair",
		strings.Replace(whole, `1`, `null`, 1): `column "n": the value is null`,
		strings.Replace(whole, `"n":1`, `"n":1,"n":1`,
			1): `column "n": the object has this key twice`,
		strings.Replace(whole, `"n":1`, `"n":1.0`, 1): "it has a decimal point",
		strings.Replace(whole, `"n":1`, `"n":9223372036854775808`,
			1): "is not a value of type integer",
		strings.Replace(whole, `"n":1`, `"n":"1"`,
			1): "the value is a string, but the column has type integer",
		strings.Replace(whole, `"n":1`, `"n":true`, 1): "the value is a boolean",
		strings.Replace(whole, `"x":1`, `"x":[1,[2],{"a":3}]`,
			1): "the value is a list or an object",
		strings.Replace(whole, `"secret"`, `7`,
			1): "the value is a number, but the column has type text",
		strings.Replace(whole, `"secret"`, `"a\u0000b"`,
			1): "is not a value of type text",
		strings.Replace(whole, `secret`, strings.Repeat("é", value.MaxTextBytes), 1): "longer than 4096 bytes",
		strings.Replace(whole, `true`, `1`, 1):                                       "the column has type boolean",
		strings.Replace(whole, `2025-01-31`, `2025-02-31`, 1):                        "type date",
		`{"a":"` + strings.Repeat("x", jsonlines.MaxLineBytes) + `"}`:                "the line is longer than",
		strings.Repeat("[", 20000):                                                   "not a JSON object",
		`{"other":` + strings.Repeat("[", 20000):                                     "not JSON",
	} {
		_, _, err := all(text, columns(false, policy.InvalidRefused))
		var fault *csvtable.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.60q: %v; want %s", text, err, want)
		}
	}
	broken := errors.New("broken")
	r, _ := jsonlines.New(io.MultiReader(strings.NewReader(whole), failing{broken}),
		columns(false, policy.InvalidRefused))
	if err := r.Read(make([]value.Value, 5)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestInvalid(t *testing.T) {
	rows, r, err := all(`{"n":"x","d":"soon"}`+"\n"+`{"n":2.5,"d":"2025-01-31"}`, columns(true, policy.InvalidIsNull))
	if err != nil || strings.Join(rows, "|") != "NULL NULL NULL NULL NULL|NULL NULL NULL NULL 2025-01-31" {
		t.Fatalf("%v, %v", rows, err)
	}
	if got := r.Invalids(); len(got) != 2 || got[0] != (csvtable.Invalid{Column: "n", Count: 2, FirstRow: 1}) ||
		got[1].Column != "d" || got[1].Count != 1 {
		t.Errorf("%+v", got)
	}
}

// FuzzReader never panics, and reads what encoding/json reads of one object.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		`{"n":1}`, "{}\n{}", `{"t":"\ud83d\ude00"}`, `{"t":"\ud800"}`, `{"n":[{}]}`, "\xff",
		`{"n":1,"n":2}`, `{"x":1e400}`, `{"b":tru`, "\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, _, err := all(text, columns(true, policy.InvalidIsNull))
		if err != nil || len(rows) != 1 || strings.HasPrefix(text, "\ufeff") {
			return
		}
		var found map[string]any
		standard := json.NewDecoder(strings.NewReader(text))
		standard.UseNumber()
		if err := standard.Decode(&found); err != nil {
			t.Fatalf("%q was read, and is not JSON: %v", text, err)
		}
		if s, ok := found["t"].(string); ok && len(s) <= value.MaxTextBytes && !strings.ContainsRune(s, 0) &&
			!strings.Contains(rows[0], s) {
			t.Fatalf("%q gave %q", text, rows[0])
		}
	})
}
