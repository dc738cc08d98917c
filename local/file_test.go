package local

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"dither/privacy"
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

// Files of reports in several parts are read back. Damaged ones are refused, with the line.
func TestFilesOfParts(t *testing.T) {
	h, err := NewHeavy(HeavyParams{Epsilon: epsilon(t, "4"), Bits: 12})
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQuantiles(epsilon(t, "1"), 0, 100, 40, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var prefixes []PrefixReport
	var numbers []MarginalsReport
	for i := range 50 {
		p, err := h.Randomize(uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		x, err := q.Randomize(float64(i))
		if err != nil {
			t.Fatal(err)
		}
		prefixes, numbers = append(prefixes, p), append(numbers, x)
	}
	var a, b bytes.Buffer
	if err := errors.Join(h.Write(&a, prefixes), q.Write(&b, numbers)); err != nil {
		t.Fatal(err)
	}
	readHeavy := func(text string) (int64, error) {
		t, err := ReadHeavy(strings.NewReader(text))
		if err != nil {
			return 0, err
		}
		return t.Reports(), nil
	}
	readQuantiles := func(text string) (int64, error) {
		_, t, err := ReadQuantiles(strings.NewReader(text))
		if err != nil {
			return 0, err
		}
		return t.Reports(), nil
	}
	for _, of := range []struct {
		text string
		read func(string) (int64, error)
	}{{a.String(), readHeavy}, {b.String(), readQuantiles}} {
		if n, err := of.read(of.text + of.text); err != nil || n != 100 {
			t.Errorf("%d reports, %v", n, err)
		}
		header, reports, _ := strings.Cut(of.text, "\n")
		first, _, _ := strings.Cut(reports, "\n")
		for name, text := range map[string]string{
			"empty":               "",
			"another format":      strings.Replace(of.text, "dither local", "dither", 1),
			"a negative epsilon":  strings.Replace(of.text, `"epsilon":"`, `"epsilon":"-`, 1),
			"many bits":           strings.NewReplacer(`"bits":12`, `"bits":61`, `"bins":40`, `"bins":99999999`).Replace(of.text),
			"other steps or n":    strings.NewReplacer(`"step":4`, `"step":99`, `"n":1000`, `"n":-1`).Replace(of.text),
			"an unknown group":    header + "\n9999" + first[1:] + "\n",
			"a negative group":    header + "\n-1" + first[1:] + "\n",
			"no group":            header + "\nx" + first[1:] + "\n",
			"a padded group":      header + "\n0" + first + "\n",
			"no part":             header + "\n" + first[:1] + "\n",
			"two parts too many":  header + "\n" + first + first[1:] + first[1:] + "\n",
			"no digits":           header + "\n" + first[:2] + "zz\n",
			"an endless report":   header + "\n" + strings.Repeat("00", 1<<20) + "\n",
			"a report of no size": header + "\n" + first[:len(first)-2] + "\n",
		} {
			if _, err := of.read(text); !errors.Is(err, ErrFile) {
				t.Errorf("%s is no ErrFile: %v", name, err)
			}
		}
	}
	text := b.String()
	other := strings.Replace(text, `"mechanisms":["`, `"mechanisms":["x`, 1)
	if _, err := readQuantiles(other); !errors.Is(err, ErrFile) || other == text {
		t.Errorf("other mechanisms: %v", err)
	}
}

// Files of reports about marginals are read back, whether people sample or split. Damaged ones are refused.
func TestFilesOfMarginals(t *testing.T) {
	columns := []Column{{"sex", 2, "d1"}, {"age", 3, ""}}
	read := func(text string) (m *Marginals, tally *MarginalsTally, err error) {
		return ReadMarginals(strings.NewReader(text), func(c []Column, e privacy.Epsilon) error {
			if len(c) == 2 && c[0] != columns[0] {
				return ErrParameter
			}
			return nil
		})
	}
	for e, split := range map[string]bool{"0.5": false, "12": true} {
		m, err := NewMarginals(epsilon(t, e), []uint64{2, 3}, [][]int{{0}, {0, 1}}, 100)
		if err != nil || m.Split() != split {
			t.Fatal(e, m, err)
		}
		var reports []MarginalsReport
		for i := range uint64(50) {
			r, err := m.Randomize([]uint64{i % 2, i % 3})
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, r)
		}
		var b bytes.Buffer
		if err := m.Write(&b, columns, reports); err != nil {
			t.Fatal(err)
		}
		if err := m.Write(&b, columns[:1], reports); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
		long := []Column{{strings.Repeat("x", 1<<16), 2, ""}, columns[1]}
		if err := m.Write(&b, long, reports); !errors.Is(err, ErrFile) {
			t.Error(err)
		}
		text := b.String()
		again, tally, err := read(text + text)
		if err != nil || tally.Reports() != 100 || again.Split() != split || again.Epsilon().Cmp(epsilon(t, e)) != 0 {
			t.Fatal(e, err)
		}
		header, rest, _ := strings.Cut(text, "\n")
		first, _, _ := strings.Cut(rest, "\n")
		for name, text := range map[string]string{
			"no columns":         strings.Replace(text, `"columns":[`, `"x":[`, 1),
			"a column too few":   strings.Replace(text, `,{"name":"age","values":3}`, "", 1),
			"no values":          strings.Replace(text, `"values":3`, `"values":0`, 1),
			"many values":        strings.Replace(text, `"values":3`, `"values":16777216`, 1),
			"an unknown column":  strings.Replace(text, "[0,1]", "[0,7]", 1),
			"no tables":          strings.Replace(text, "[[0],[0,1]]", "[]", 1),
			"an empty table":     strings.Replace(text, "[[0],[0,1]]", "[[0],[]]", 1),
			"the other way":      strings.NewReplacer(`"split":true`, `"split":false`, `"split":false`, `"split":true`).Replace(text),
			"other mechanisms":   strings.Replace(text, `"mechanisms":["`, `"mechanisms":["x`, 1),
			"no epsilon":         strings.Replace(text, `"epsilon":"`+e+`"`, `"epsilon":"0"`, 1),
			"an unknown table":   header + "\n9" + first[1:] + "\n",
			"a part too many":    header + "\n" + first + " 00\n",
			"a part of one byte": header + "\n" + first + "00\n",
		} {
			if _, _, err := read(text); !errors.Is(err, ErrFile) {
				t.Errorf("ε = %s, %s: %v", e, name, err)
			}
		}
		if _, _, err := read(strings.Replace(text, `"d1"`, `"d2"`, 1)); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
	}
	// the memory of all tables together is bounded
	if _, err := NewMarginals(epsilon(t, "1"), []uint64{1 << 23}, [][]int{{0}, {0}, {0}}, 100); !errors.Is(err, ErrParameter) {
		t.Error(err)
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
