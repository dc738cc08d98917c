package csvtable

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"dither/internal/policy"
)

// encoded returns a text in UTF-16 with a byte order mark.
func encoded(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func declared(encoding string) policy.Dialect {
	d := plain
	d.Spelling = &policy.Spelling{Encoding: encoding}
	return d
}

func TestEncodings(t *testing.T) {
	text := "a,b\né€,\"𝄞\n\"\n" + strings.Repeat("é€𝄞,ÿ\n", 10_000)
	for _, c := range []struct {
		name, file string
		d          policy.Dialect
		want       string
	}{
		{"UTF-16, little-endian", encoded(text, binary.LittleEndian), plain, text},
		{"UTF-16, big-endian", encoded(text, binary.BigEndian), plain, text},
		{"UTF-16, declared", encoded(text, binary.BigEndian), declared(policy.UTF16), text},
		{"Windows-1252", "a,b\n\x80\xe4\x93,\xff\xa0\n", declared(policy.Windows1252), "a,b\n€ä“,ÿ\u00a0\n"},
		{"marks of UTF-16 in Windows-1252", "a,b\n\xff\xfe,1\n", declared(policy.Windows1252), "a,b\nÿþ,1\n"},
	} {
		columns := texts("a", "b")
		want, _, err := all(strings.NewReader(c.want), plain, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []io.Reader{strings.NewReader(c.file), iotest.OneByteReader(strings.NewReader(c.file))} {
			got, _, err := all(in, c.d, columns)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s: %d rows, %v", c.name, len(got), err)
			}
			for i := range got {
				if strings.Join(got[i], "|") != strings.Join(want[i], "|") {
					t.Errorf("%s: %.40q, want %.40q", c.name, got[i], want[i])
				}
			}
		}
	}
	for _, c := range []struct {
		file string
		d    policy.Dialect
		want string
	}{
		{encoded("a,b\n1,2\n", binary.LittleEndian) + "x", plain, "row 2, line 3: invalid UTF-8"},
		{"\xff\xfea\x00\n\x00\x00\xd8\n\x00", plain, "row 1, line 2: invalid UTF-8"},
		{"\xff\xfea\x00\n\x00\x00\xdcx\x00\n\x00", plain, "row 1, line 2: invalid UTF-8"},
		{"\xff\xfe\x00\x00a\x00\x00\x00", plain, "line 1: a NUL byte"},
		{"a,b\n1,2\n", declared(policy.UTF16), "the file is declared as utf-16, but does not begin"},
		{"\ufeffa,b\n", declared(policy.Windows1252), "the file begins with the byte order mark of UTF-8"},
		{"\ufeffa,b\n", declared(policy.UTF16), "the file begins with the byte order mark of UTF-8"},
		{"a,b\n\x81,1\n", declared(policy.Windows1252), "row 1, line 2: a byte that is not valid in windows-1252"},
		{"\xff\xfe", plain, "the file is empty"},
		{"", declared(policy.UTF16), "the file is empty"},
	} {
		if _, _, err := all(strings.NewReader(c.file), c.d, texts("a")); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %s …", c.file, err, c.want)
		}
	}
}

// FuzzText: nothing panics, the text is bounded by the file, and a text comes back from UTF-16 as it was.
func FuzzText(f *testing.F) {
	f.Add("a,b\n", byte(0))
	f.Add("\xff\xfea\x00\x00\xd8", byte(1))
	f.Add("\xfe\xff\xd8\x00", byte(2))
	f.Fuzz(func(t *testing.T, file string, choice byte) {
		encoding := []string{"", policy.UTF16, policy.Windows1252}[choice%3]
		if in, err := Text(strings.NewReader(file), encoding); err == nil {
			text, err := io.ReadAll(in)
			if err != nil || len(text) > 3*len(file) {
				t.Fatalf("%d bytes became %d, %v", len(file), len(text), err)
			}
		}
		if !utf8.ValidString(file) {
			return
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			in, err := Text(strings.NewReader(encoded(file, order)), "")
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(in); err != nil || string(text) != file {
				t.Fatalf("%q, %v", text, err)
			}
		}
	})
}
