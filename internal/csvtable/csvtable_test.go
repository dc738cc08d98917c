package csvtable

import (
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"dither/internal/policy"
	"dither/internal/value"
)

var plain = policy.Dialect{Delimiter: ',', Quote: '"', Header: true}

func headless() policy.Dialect {
	d := plain
	d.Header = false
	return d
}

func texts(names ...string) []*policy.Column {
	var out []*policy.Column
	for _, n := range names {
		out = append(out, &policy.Column{Name: n, Type: value.Text, Nullable: true, Invalid: policy.InvalidRefused})
	}
	return out
}

func column(name string, t value.Type) *policy.Column {
	return &policy.Column{Name: name, Type: t, Invalid: policy.InvalidRefused}
}

// all reads every row, each written as its values' texts.
func all(r io.Reader, d policy.Dialect, columns []*policy.Column) ([][]string, *Reader, error) {
	in, err := New(r, d, columns)
	if err != nil {
		return nil, nil, err
	}
	var rows [][]string
	row := make([]value.Value, len(columns))
	for {
		if err := in.Read(row); errors.Is(err, io.EOF) {
			return rows, in, nil
		} else if err != nil {
			return rows, in, err
		}
		var texts []string
		for _, v := range row {
			texts = append(texts, v.String())
		}
		rows = append(rows, texts)
	}
}

func TestRead(t *testing.T) {
	semicolon := policy.Dialect{Delimiter: ';', Quote: '\'', Header: true, Null: "NA"}
	unquoted := policy.Dialect{Delimiter: '\t', Null: `\N`}
	for _, c := range []struct {
		name, file string
		d          policy.Dialect
		columns    []*policy.Column
		want       [][]string
	}{
		{"plain", "a,b\n1,2\n3,4\n", plain, texts("a", "b"), [][]string{{"1", "2"}, {"3", "4"}}},
		{"no line end last", "a,b\n1,2", plain, texts("a", "b"), [][]string{{"1", "2"}}},
		{"CRLF", "a,b\r\n1,2\r\n\"3\",4\r\n", plain, texts("a", "b"), [][]string{{"1", "2"}, {"3", "4"}}},
		{"order and subset by name", "c,b,a\n1,2,3\n", plain, texts("a", "c"), [][]string{{"3", "1"}}},
		{"by position", "1,2\n", headless(), texts("x", "y"), [][]string{{"1", "2"}}},
		{"byte order mark", "\ufeffa\n1\n", plain, texts("a"), [][]string{{"1"}}},
		{"quotes", "a,b\n\"x,\"\"y\"\"\n\r\nz\",\"\"\n", plain, texts("a", "b"), [][]string{{"x,\"y\"\n\r\nz", ""}}},
		{"NULL and empty", "a,b\n,\"\"\n", plain, texts("a", "b"), [][]string{{"NULL", ""}}},
		{"empty last field at the end", "a,b\n1,", plain, texts("a", "b"), [][]string{{"1", "NULL"}}},
		{"quoted empty at the end", "a\n\"\"", plain, texts("a"), [][]string{{""}}},
		{"other dialect", "a;b\n'it''s';NA\n'NA';\n", semicolon, texts("a", "b"), [][]string{{"it's", "NULL"}, {"NA", ""}}},
		{"no quoting", "a\"b\t\\N\n", unquoted, texts("a", "b"), [][]string{{`a"b`, "NULL"}}},
		{"one empty line at the end", "a\n1\n\n", plain, texts("a"), [][]string{{"1"}}},
		{"no rows", "a,b\n", plain, texts("a", "b"), nil},
		{"no rows, no line end", "a,b", plain, texts("a", "b"), nil},
		{"nothing, no header", "", headless(), texts("a"), nil},
		{
			"types", "i,r,t,b,d\n-5,1e3,é,TRUE,2000-02-29\n0,NaN,x,f,0001-01-01\n9,-inf,y,1,9999-12-31\n", plain,
			[]*policy.Column{
				column("i", value.Integer), column("r", value.Real), column("t", value.Text),
				column("b", value.Boolean), column("d", value.Date),
			},
			[][]string{
				{"-5", "1000", "é", "true", "2000-02-29"},
				{"0", "NaN", "x", "false", "0001-01-01"},
				{"9", "-Inf", "y", "true", "9999-12-31"},
			},
		},
	} {
		for _, r := range []struct {
			how string
			io.Reader
		}{{"whole", strings.NewReader(c.file)}, {"bytewise", iotest.OneByteReader(strings.NewReader(c.file))}} {
			got, _, err := all(r, c.d, c.columns)
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, r.how, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %s:\n%s", c.name, r.how, diff)
			}
		}
	}
}

// Every fault names its place, and none quotes the file.
func TestFaults(t *testing.T) {
	const secret = "s3cret"
	integer := []*policy.Column{column("n", value.Integer), {Name: "t", Type: value.Text, Nullable: true}}
	for _, c := range []struct{ name, file, want string }{
		{"empty file", "", "the file is empty"},
		{"only a mark", "\ufeff", "the file is empty"},
		{"column missing", "n,x\n1,2\n", `line 1, column "t": the header does not name`},
		{"column twice", "n,t,t\n1,2,3\n", `line 1, column "t": the header names this column more than once`},
		{"too few fields", "n,t\n1,2\n" + secret + "\n", "row 2, line 3: the record has 1 field instead of 2"},
		{"too many fields", "n,t\n1,2," + secret + "\n", "row 1, line 2: the record has 3 fields instead of 2"},
		{"bare quote", "n,t\n1," + secret + "\"\n", "row 1, line 2: a quote inside"},
		{"text after quote", "n,t\n1,\"a\"" + secret + "\n", "row 1, line 2: text after the quote"},
		{"quote never closes", "n,t\n1,a\n2,\"" + secret + "\n\n3,b\n", "row 2, line 3: the quoted field that opens here never closes"},
		{"quote in the header never closes", "n,\"t\n1,2\n", "line 1: the quoted field that opens here never closes"},
		{"NUL", "n,t\n1,\x00" + secret + "\n", "row 1, line 2: a NUL byte"},
		{"UTF-8", "n,t\n1,a\n2," + secret + "\xff\n", "row 2, line 3: invalid UTF-8"},
		{"UTF-8 across fields", "n,t,x\n1,\xc3,\xa9\n", "row 1, line 2: invalid UTF-8"},
		{"CR alone", "n,t\n1,a\rb\n", "row 1, line 2: a carriage return"},
		{"CR at the end", "n,t\n1,a\r", "row 1, line 2: a carriage return"},
		{"CR after a quote", "n,t\n1,\"a\"\rb\n", "row 1, line 2: text after the quote"},
		{"empty line", "n,t\n1,a\n\n2,b\n", "row 2, line 3: the line is empty"},
		{"two empty lines at the end", "n,t\n1,a\n\n\n", "row 2, line 3: the line is empty"},
		{"empty line, CRLF", "n,t\r\n\r\n1,a\r\n", "row 1, line 2: the line is empty"},
		{"header is empty", "\nn,t\n", "line 1: the line is empty"},
		{"not an integer", "n,t\n1,\"a\n\nb\"\n" + secret + ",b\n", `row 2, line 5, column "n": the field is not a value of type integer`},
		{"integer too large", "n,t\n9223372036854775808,b\n", `row 1, line 2, column "n": the field is not a value`},
		{"NULL", "n,t\n,b\n", `row 1, line 2, column "n": the value is NULL`},
		{"quoted empty integer", "n,t\n\"\",b\n", `row 1, line 2, column "n": the value is NULL`},
		{"long text", "n,t\n1," + strings.Repeat("é", value.MaxTextBytes/2) + "x\n", `row 1, line 2, column "t": the text is longer than 4096 bytes`},
		{"long record", "n,t\n1,a\n1," + strings.Repeat(secret, MaxRecordBytes/6+1) + "\n", "row 2, line 3: the record is longer than 1048576 bytes"},
		{"long quoted field", "n,t\n1,a\n1,\n\"" + strings.Repeat(secret+"\n", MaxRecordBytes/7+1) + "\"\n", "row 3, line 4: the quoted field that opens here does not close within"},
	} {
		_, _, err := all(strings.NewReader(c.file), plain, integer)
		if c.name == "long quoted field" {
			_, _, err = all(strings.NewReader(c.file), plain, texts("n", "t"))
		}
		var fault *Error
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v is no *Error", c.name, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %q, want %q …", c.name, err, c.want)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: quotes the file: %v", c.name, err)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for want, e := range map[string]*Error{
		"bad": {Message: "bad"}, "row 3: bad": {Row: 3, Message: "bad"},
		`column "a": bad`:                {Column: "a", Message: "bad"},
		`row 3, line 7, column "a": bad`: {Row: 3, Line: 7, Column: "a", Message: "bad"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}

// One reading finds the faults of all columns.
func TestAllFaultsAreListed(t *testing.T) {
	columns := []*policy.Column{
		column("n", value.Integer),
		{Name: "t", Type: value.Text, Nullable: true},
		column("d", value.Date),
		{Name: "x", Type: value.Real, Nullable: true, Invalid: policy.InvalidIsNull},
	}
	file := "d,n,t,x\n2000-01-01,1,a,1\n31.12.2000,\"1,5\",a,yes\n1.1.2000,2,a,1\n,3,\"a\n\",1\n3.1.2000,\"4,5\",a,1\n4.1.2000,5,a,1\n"
	const want = "2 columns have faults:\n" +
		`- column "n", 2 fields in rows 2, 5 (the first on line 3): the field is not a value of type integer: ` +
		`it looks like a number with a comma: write a decimal point, or declare source: {decimal: ","}` + "\n" +
		`- column "d", 4 fields in rows 2, 3, 5, … (the first on line 3): the field is not a value of type date: ` +
		"it looks like a date in the form day.month.year: write YYYY-MM-DD, or declare source: {dates: D.M.YYYY}\n" +
		`- column "d", 1 field in row 4 (the first on line 5): the value is NULL, but the column is not declared nullable`
	_, in, err := all(strings.NewReader(file), plain, columns)
	var fault *Error
	if !errors.As(err, &fault) || len(fault.Faults) != 3 || err.Error() != want {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]Invalid{{"x", 1, 2}}, in.Invalids()); diff != "" {
		t.Error(diff)
	}
	_, _, err = all(strings.NewReader(file+"1,\x00\n"), plain, columns)
	const stopped = "\n- later rows were not read: row 7, line 9: a NUL byte"
	if err == nil || err.Error() != want+stopped {
		t.Errorf("%v", err)
	}
	_, _, err = all(strings.NewReader("n,t\n1\n2,a\n3\n4,b,c\n5,,,\n,d\n7,,,,\n8,,,,,\n"), plain, columns[:2])
	const lengths = "records and 1 column have faults:\n- 2 records in rows 1, 3 (the first on line 2): the record has 1 field instead of 2\n" +
		"- 1 record in row 4 (the first on line 5): the record has 3 fields instead of 2\n" +
		"- 1 record in row 5 (the first on line 6): the record has 4 fields instead of 2\n" +
		"- 2 records in rows 7, 8 (the first on line 8): the record has another number of fields than 2\n" +
		`- column "n", 1 field in row 6 (the first on line 7): the value is NULL, but the column is not declared nullable`
	if err == nil || err.Error() != lengths {
		t.Errorf("%v", err)
	}
	_, _, err = all(strings.NewReader("N ,t,x,t,t\n"), plain, columns)
	const header = "3 columns have faults:\n" +
		`- column "n": the header does not name this column; its field 1 differs only in case, or in blanks around the name` +
		"\n" + `- column "t": the header names this column more than once, in its fields 2 and 4` +
		"\n" + `- column "d": the header does not name this column`
	if err == nil || err.Error() != header {
		t.Errorf("%v", err)
	}
}

func TestErrorsStay(t *testing.T) {
	in, err := New(strings.NewReader("a\n1,2\n3\n"), plain, texts("a"))
	if err != nil {
		t.Fatal(err)
	}
	row := make([]value.Value, 1)
	first := in.Read(row)
	if second := in.Read(row); first == nil || !errors.Is(second, first) {
		t.Errorf("%v, then %v", first, second)
	}
	broken := errors.New("the disk is on fire")
	_, _, err = all(io.MultiReader(strings.NewReader("a\n1\n2"), iotest.ErrReader(broken)), plain, texts("a"))
	if !errors.Is(err, broken) {
		t.Errorf("the reader's error is lost: %v", err)
	}
}

func TestInvalidIsNull(t *testing.T) {
	columns := []*policy.Column{
		{Name: "n", Type: value.Integer, Nullable: true, Invalid: policy.InvalidIsNull},
		{Name: "x", Type: value.Real, Nullable: true, Invalid: policy.InvalidIsNull},
		{Name: "t", Type: value.Text, Nullable: true, Invalid: policy.InvalidIsNull},
	}
	long := strings.Repeat("x", value.MaxTextBytes+1)
	got, in, err := all(strings.NewReader("n,x,t,extra,\n1,inf,a,,\nyes,1,"+long+",,\n,0x1p3,,,\n1.5,2,b,,\n"),
		plain, columns)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"1", "+Inf", "a"}, {"NULL", "1", "NULL"}, {"NULL", "NULL", "NULL"}, {"NULL", "2", "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Invalid{{"n", 2, 2}, {"x", 1, 3}, {"t", 1, 2}}, in.Invalids()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"extra", ""}, in.Ignored()); diff != "" {
		t.Error(diff)
	}
	if in.Row() != 4 {
		t.Errorf("Row is %d", in.Row())
	}
}

func TestRealsStay(t *testing.T) {
	in, err := New(strings.NewReader("nan\n-Infinity\n1e999\n"), headless(), []*policy.Column{column("x", value.Real)})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]value.Value, 1)
	for _, want := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
		if err := in.Read(row); err != nil || row[0].Real != want && !math.IsNaN(want) {
			t.Errorf("%v, %v; want %v", row[0].Real, err, want)
		}
	}
}

func TestDialects(t *testing.T) {
	for _, d := range []policy.Dialect{
		{}, {Delimiter: 'é'}, {Delimiter: '\n'}, {Delimiter: ',', Quote: ','}, {Delimiter: ',', Quote: '\r'}, {Delimiter: -1},
	} {
		if _, err := New(strings.NewReader(""), d, texts("a")); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
	if _, err := New(strings.NewReader(""), plain, nil); err == nil {
		t.Error("no columns are accepted")
	}
}

// endless repeats a byte, and counts how many were read.
type endless struct {
	b    byte
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.b
	}
	e.read += int64(len(p))
	return len(p), nil
}

// A line, or a quoted field, without end is given up after one record's bytes, and not held.
func TestEndless(t *testing.T) {
	for _, start := range []string{"a\n", "a\n\"", "a\n1\n\"\"\"", ""} {
		for _, b := range []byte{'x', '\n', '"', ',', '\r'} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			tail := &endless{b: b}
			_, _, err := all(io.MultiReader(strings.NewReader(start), tail), plain, texts("a"))
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatalf("%q then %q without end is accepted", start, b)
			}
			if tail.read > 2*MaxRecordBytes {
				t.Errorf("%q then %q without end: %d bytes were read", start, b, tail.read)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 200*MaxRecordBytes {
				t.Errorf("%q then %q without end: %d bytes were allocated", start, b, n)
			}
		}
	}
}

// A CR LF that the read buffer's end tears apart is one line end, wherever it falls.
func TestTornLineEnds(t *testing.T) {
	for n := 1<<16 - 8; n < 1<<16+8; n++ {
		file := strings.Repeat("x", n) + ",1\r\n2,\"3\"\r\n"
		columns := []*policy.Column{
			{Name: "a", Type: value.Text, Nullable: true, Invalid: policy.InvalidIsNull},
			column("b", value.Integer),
		}
		rows, _, err := all(strings.NewReader(file), headless(), columns)
		if err != nil || len(rows) != 2 || rows[1][1] != "3" {
			t.Fatalf("%d: %v, %v", n, rows, err)
		}
	}
}
