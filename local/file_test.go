package local

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func file(t testing.TB, o *Oracle, values ...uint64) string {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{o.Params(), "d1"})
	if err != nil {
		t.Fatal(err)
	}
	reports, err := o.RandomizeAll(values)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]byte("a report of another size than the header's")); !errors.Is(err, ErrReport) {
		t.Error(err)
	}
	return b.String()
}

func anyHeader(Header) error { return nil }

// What a Writer writes is read back, also if two files are concatenated, or have the line ends of Windows.
func TestFilesAreReadBack(t *testing.T) {
	for _, name := range Mechanisms() {
		k := uint64(2)
		if name != "coin" {
			k = 700
		}
		o := oracle(t, name, k, "2")
		text := file(t, o, 0, 1, 1)
		text += strings.ReplaceAll(file(t, o, 1), "\n", "\r\n")
		var seen Header
		tally, err := ReadTally(strings.NewReader(text), func(h Header) error { seen = h; return nil })
		if err != nil {
			t.Fatal(name, err)
		}
		if tally.Reports() != 4 || seen.Mechanism != name || seen.Values != k || seen.Domain != "d1" ||
			seen.Epsilon.Cmp(epsilon(t, "2")) != 0 {
			t.Errorf("%s: %d reports, %+v", name, tally.Reports(), seen)
		}
	}
}

func TestBadFiles(t *testing.T) {
	good := file(t, oracle(t, "krr", 5, "1"), 1)
	header, _, _ := strings.Cut(good, "\n")
	for name, c := range map[string]struct{ text, says string }{
		"empty":             {"", "empty"},
		"no header":         {"80\n", "line 1"},
		"another format":    {`{"format":"x","version":1}` + "\n", "header"},
		"a later version":   {strings.Replace(good, `"version":1`, `"version":2`, 1), "version"},
		"no mechanism":      {strings.Replace(good, "krr", "krx", 1), "krx"},
		"many values":       {strings.Replace(good, `"values":5`, `"values":999999999999`, 1), "at most"},
		"negative values":   {strings.Replace(good, `"values":5`, `"values":-5`, 1), "header"},
		"a large epsilon":   {strings.Replace(good, `"epsilon":"1"`, `"epsilon":"1000"`, 1), "at most 40"},
		"a long epsilon":    {strings.Replace(good, `"epsilon":"1"`, `"epsilon":"1e-999999999"`, 1), "header"},
		"a short report":    {header + "\n8\n", "line 2"},
		"no digits":         {header + "\nzz\n", "line 2"},
		"an impossible one": {header + "\n00\na0\n", "line 3"},
		"padding":           {header + "\n01\n", "line 2"},
		"an empty line":     {header + "\n00\n\n00\n", "line 3"},
		"another header":    {header + "\n" + strings.Replace(header, `"1"`, `"2"`, 1) + "\n00\n", "line 2"},
		"an endless header": {strings.Repeat("x", 1<<20), "line 1"},
		"an endless report": {header + "\n" + strings.Repeat("00", 1<<20), "line 2"},
		"nul bytes":         {header + "\n\x00\x00\n", "line 2"},
	} {
		_, err := ReadTally(strings.NewReader(c.text), anyHeader)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !errors.Is(err, ErrFile) {
			t.Errorf("%s is no ErrFile: %v", name, err)
		}
	}
	stop := errors.New("stop")
	if _, err := ReadTally(strings.NewReader(good), func(Header) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// FuzzFile: any file is read, or refused with a named error.
func FuzzFile(f *testing.F) {
	for _, name := range Mechanisms() {
		k := uint64(2)
		if name != "coin" {
			k = 20
		}
		f.Add([]byte(file(f, oracle(f, name, k, "1"), 0, 1)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tally, err := ReadTally(bytes.NewReader(text), func(h Header) error {
			if h.Values > 1000 {
				return ErrParameter // the memory of a fuzzing run
			}
			return nil
		})
		switch {
		case err == nil:
			if _, err := tally.Estimate(.5, 0); err != nil {
				t.Fatal(err)
			}
		case !errors.Is(err, ErrFile) && !errors.Is(err, ErrParameter):
			t.Fatal(err)
		}
	})
}
