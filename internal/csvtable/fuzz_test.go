package csvtable

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

// FuzzReader: nothing panics, and where encoding/csv accepts the same text too, it reads the same fields.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "\"x\"\"y\",\"\r\n\"\r\n,\n", "a\n\n", "\ufeffa,b\n", "\"", "a\"b\n", "\"a\"b\n", "a\r",
		"\xff,\x00\n", "\xfe\xff", "\n", ",,,\n1,2,3,4",
	} {
		f.Add([]byte(s), byte(','), byte('"'), true)
		f.Add([]byte(s), byte(';'), byte('\''), false)
	}
	f.Fuzz(func(t *testing.T, file []byte, delimiter, quote byte, header bool) {
		d := policy.Dialect{Delimiter: rune(delimiter), Quote: rune(quote), Header: header, Null: "1"}
		typed := []*policy.Column{
			{Name: "a", Type: value.Integer, Nullable: true, Invalid: policy.InvalidIsNull},
			{Name: "b", Type: value.Date, Nullable: true, Invalid: policy.InvalidIsNull},
		}
		_, _, _ = all(bytes.NewReader(file), d, typed)

		standard := csv.NewReader(bytes.NewReader(file))
		standard.FieldsPerRecord = 0 // as many as the first record
		want, err := standard.ReadAll()
		if err != nil || len(want) == 0 || marked(file) {
			return
		}
		var columns []*policy.Column
		for range want[0] {
			columns = append(columns, &policy.Column{Name: "x", Type: value.Text})
		}
		got, _, err := all(bytes.NewReader(file), policy.Dialect{Delimiter: ',', Quote: '"', Null: "\n"}, columns)
		if err != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		for i := range want {
			for j := range want[i] {
				if g := strings.ReplaceAll(got[i][j], "\r\n", "\n"); g != want[i][j] {
					t.Fatalf("record %d, field %d: %q, want %q", i, j, g, want[i][j])
				}
			}
		}
	})
}

// marked reports whether a file begins with the byte order mark of an encoding, which encoding/csv takes for text.
func marked(file []byte) bool {
	return bytes.HasPrefix(file, []byte("\ufeff")) || bytes.HasPrefix(file, []byte("\xff\xfe")) ||
		bytes.HasPrefix(file, []byte("\xfe\xff"))
}

func benchmark(b *testing.B, file string, columns []*policy.Column) {
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	row := make([]value.Value, len(columns))
	for b.Loop() {
		in, err := New(strings.NewReader(file), plain, columns)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			err = in.Read(row)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	line := "123456,45.25,female,true,2021-03-04,\"New York, NY\"\n"
	file := "id,amount,sex,member,day,city\n" + strings.Repeat(line, 100_000)
	b.Run("typed", func(b *testing.B) {
		benchmark(b, file, []*policy.Column{
			column("id", value.Integer), column("amount", value.Real), column("sex", value.Text),
			column("member", value.Boolean),
			column("day", value.Date), column("city", value.Text),
		})
	})
	b.Run("text", func(b *testing.B) {
		benchmark(b, file, texts("id", "amount", "sex", "member", "day", "city"))
	})
}
