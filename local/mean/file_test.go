package mean

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func file(t testing.TB, m Mechanism) string {
	t.Helper()
	r := randomizer(t, m, "1")
	reports, err := r.Randomize([]float64{-1, 0, .3, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, Header{r.Params(), "0", "10"}, reports); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func anyHeader(Header) error { return nil }

func TestFilesAreReadBack(t *testing.T) {
	for _, m := range Mechanisms {
		text := file(t, m)
		tally, err := ReadTally(strings.NewReader(text+text), func(h Header) error {
			if h.Mechanism != m || h.Low != "0" || h.High != "10" {
				t.Errorf("%+v", h)
			}
			return nil
		})
		if err != nil || tally.n != 12 {
			t.Error(m, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	good := file(t, Duchi)
	header, _, _ := strings.Cut(good, "\n")
	window, _, _ := strings.Cut(file(t, Piecewise), "\n")
	for name, text := range map[string]string{
		"empty": "", "no header": "+\n", "no mechanism": strings.Replace(good, "duchi", "x", 1), "best": strings.Replace(good, "duchi", "best", 1),
		"a number among signs": header + "\n5\n", "no number": header + "\n+x\n", "a plus": window + "\n+5\n", "zeros": window + "\n007\n",
		"far": window + "\n2147483647\n", "a sign": window + "\n+\n", "long": window + "\n" + strings.Repeat("1", 1<<17) + "\n", "a gap": header + "\n\n+\n",
		"too large": strings.Replace(good, `"epsilon":"1"`, `"epsilon":"41"`, 1),
	} {
		if _, err := ReadTally(strings.NewReader(text), anyHeader); !errors.Is(err, ErrFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stop := errors.New("stop")
	if _, err := ReadTally(strings.NewReader(good), func(Header) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// FuzzFile: any file is read, or refused with a named error.
func FuzzFile(f *testing.F) {
	for _, m := range Mechanisms {
		f.Add([]byte(file(f, m)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tally, err := ReadTally(bytes.NewReader(text), anyHeader)
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Fatal(err)
			}
			return
		}
		if _, err := tally.Estimate(.5); err != nil {
			t.Fatal(err)
		}
	})
}

// Files of reports about vectors are read back. Damaged ones are refused.
func TestFilesOfVectors(t *testing.T) {
	columns := []Column{{"a", "0", "1"}, {"b", "0", "10"}, {"c", "-1", "1"}}
	read := func(text string) (*VectorTally, error) {
		return ReadVectors(strings.NewReader(text), func(Params, []Column) error { return nil })
	}
	for _, m := range Mechanisms {
		v, err := NewVector(Params{m, epsilon(t, "5")}, 3) // two coordinates each
		if err != nil {
			t.Fatal(err)
		}
		var reports [][]Coordinate
		for range 50 {
			r, err := v.Randomize([]float64{-1, .3, 1})
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, r)
		}
		var b bytes.Buffer
		if err := v.Write(&b, columns, reports); err != nil {
			t.Fatal(err)
		}
		if err := v.Write(&b, columns[:2], reports); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
		text := b.String()
		tally, err := read(text + text)
		if err != nil || tally.Reports() != 100 || tally.by[0].n+tally.by[1].n+tally.by[2].n != 200 {
			t.Fatal(m, err)
		}
		header, rest, _ := strings.Cut(text, "\n")
		first, _, _ := strings.Cut(rest, "\n")
		one, two, _ := strings.Cut(first, " ")
		for name, text := range map[string]string{
			"no columns":       strings.Replace(text, `"columns":[`, `"x":[`, 1),
			"best":             strings.Replace(text, `"`+string(m)+`"`, `"best"`, 1),
			"another format":   strings.Replace(text, VectorFormat, FileFormat, 1),
			"a large epsilon":  strings.Replace(text, `"epsilon":"5"`, `"epsilon":"1e30"`, 1),
			"no epsilon":       strings.Replace(text, `"epsilon":"5"`, `"epsilon":"0"`, 1),
			"one coordinate":   header + "\n" + one + "\n",
			"another order":    header + "\n" + two + " " + one + "\n",
			"one twice":        header + "\n" + one + " " + one + "\n",
			"a gap":            header + "\n" + one + "  " + two + "\n",
			"no index":         header + "\n" + one + " +\n",
			"a padded index":   header + "\n" + one + " 0" + two + "\n",
			"a negative index": header + "\n-1" + one[1:] + " " + two + "\n",
			"a large index":    header + "\n" + one + " 3" + two[1:] + "\n",
			"no report":        header + "\n" + one + " 2:\n",
			"no such report":   header + "\n" + one + " 2:2147483647\n",
			"an endless line":  header + "\n" + strings.Repeat(one+" ", 1<<16) + "\n",
		} {
			if _, err := read(text); !errors.Is(err, ErrFile) {
				t.Errorf("%s, %s: %v", m, name, err)
			}
		}
	}
}
