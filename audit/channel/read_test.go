package channel_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"dither/audit/channel"
)

// What names rows and columns, and what does not.
func TestReadNames(t *testing.T) {
	for text, want := range map[string]string{
		".5,.5\n1/4,3/4\n":                                       "1 2|1 2",
		"yes,no\n.5,.5\n1/4,3/4\n":                               "1 2|yes no",
		"input,yes,no\na,.5,.5\nb,1/4,3/4\n":                     "a b|yes no",
		"input,0,1\nx,.5,.5\ny,.1,.9\n":                          "x y|0 1",
		"Inputs,1,2\n50,.5,.5\n51,1/4,3/4\n":                     "50 51|1 2",
		",yes,2\n50,.5,.5\n51,1/4,3/4\n":                         "50 51|yes 2",
		"input1,.9,.1\ninput2,.5,.5\ninput3,.6,.4\n":             "input1 input2 input3|1 2",
		"input,yes,no\ninput1,.9,.1\ninput2,.5,.5\n":             "input1 input2|yes no",
		"a,.5,.5\nb,1/4,3/4\n":                                   "a b|1 2",
		"yes,no\n50,.5,.5\n51,1/4,3/4\n":                         "50 51|yes no",
		"height,yes,no\na,.5,.5\nb,1/4,3/4\n":                    "a b|yes no",
		"\xef\xbb\xbfinput,yes,no\r\na, .5 ,.5\r\n\r\nb,1/4,3/4": "a b|yes no",
		"input,\"a, b\",c\n\"x\"\"y\",exp(0)/2,.5\nz,.5,.5\n":    "x\"y z|a, b c",
		"always\n1\n1\n":                                         "1 2|always",
		"1\n1\n":                                                 "1 2|1",
		"a,1\nb,1\n":                                             "a b|1",
	} {
		m := read(t, text)
		if got := strings.Join(m.Inputs(), " ") + "|" + strings.Join(m.Outputs(), " "); got != want {
			t.Errorf("%q has %s, want %s", text, got, want)
		}
	}
	if m := read(t, "input,yes,no\na,.5,.5\nb,1/4,3/4\n"); m.At(1, 1) != "0.75" {
		t.Errorf("the last entry is %s", m.At(1, 1))
	}
}

// What is refused, and in what words.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "it has no rows",
		"\n\n":                  "it has no rows",
		"a,b\n":                 "it has no rows",
		".5,.4\n.5,.5\n":        "row 1 sums to less than 1, by 0.1",
		".5,.5\n1/3,1/3\n":      "row 2 sums to less than 1, by 1/3, about 0.333",
		"input,a\nx,1\ny,1.5\n": "row y sums to more than 1, by 0.5",
		"x,.3333333,.6666666\n": "row x sums to less than 1, by 0.0000001, about 1e-07",
		"1,2\n.5,.5\n":          `begin it with "input"`,
		// What may be a row is not taken for names, nor the other way round.
		"input,0.9,0.1\ninput2,.5,.5\n":            "may contain names, or be a row",
		"input,0,0\nx,.5,.5\ny,.1,.9\n":            "write names of outputs that are not numbers, such as y=0",
		"input,0.5,1\nx,.5,.5\ny,.1,.9\n":          "write names of outputs that are not numbers, such as y=0.5",
		"reported,0,1\nx,.5,.5\ny,.1,.9\n":         "begin it with the word input",
		"input,exp(0)/2,.5\nx,.5,.5\ny,.1,.9\n":    "may contain names, or be a row",
		"input,1,2\ninput2,.5,.5\ninput3,.1,.9\n":  "may contain names, or be a row",
		",0.3,0.7\n0.2,0.5,0.5\n0.1,0.5,0.5\n":     `write "input" there`,
		",1,2\n50,.5,.5\n51,1/4,3/4\n":             `write "input" there`,
		"Input / output,1,2\n50,.5,.5\n51,.1,.9\n": "begin it with the word input",
		".5,.5\n":                "it has only one row",
		"input,a,b\nx,.5,.5\n":   "it has only one row",
		".5\x00,.5\n.5,.5\n":     `".5\x00": not a number: unexpected '\x00' at character 3`,
		"exp(1)/4,exp(1)/4\n":    "row 1 sums to more than 1, by -1 + 0.5*exp(1), about 0.359",
		"1.5,-.5\n":              "row 1, column 2: -.5 is negative",
		"1-exp(1),exp(1)\n":      "row 1, column 1: 1-exp(1) is negative",
		".5,.5\n1\n":             "row 2 has 1 entries, but the first row has 2",
		".5,.5\n.2,.3,.5\n":      "row 2 has 3 entries, but the first row has 2",
		"input,a,b\nx,.5,.5,0\n": "2 names for 3 columns",
		"input,a,b\nx,1\n":       "2 names for 1 columns",
		".5,NaN\n":               `row 1, column 2: "NaN": not a number`,
		"NaN,.5\n":               `row 1, column 1: "NaN"`,
		"Inf,.5\n":               `row 1, column 1: "Inf"`,
		".5,\n":                  `row 1, column 2: "": not a number`,
		".5,.5x\n":               `row 1, column 2: ".5x": not a number: unexpected 'x' at character 3`,
		"x,.5,.5\ny,.5,oops\n":   `row y, column 2: "oops"`,
		"1e400000,0\n":           `row 1, column 1: "1e400000": the number is too large`,
		"1/0,0\n":                "division by zero",
		"input,a,a\nx,.5,.5\n":   "two columns are named a",
		"x,.5,.5\nx,.5,.5\n":     "two rows are named x",
		".5,.5\n\"1/2,1/2\n":     "parse error",
		"1,0\n0,0\n":             "row 2 sums to less than 1, by 1",
	} {
		_, err := channel.Read(strings.NewReader(text), channel.Options{})
		if !errors.Is(err, channel.ErrMatrix) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := channel.Read(iotest.ErrReader(io.ErrClosedPipe), channel.Options{}); !errors.Is(err,
		io.ErrClosedPipe) {
		t.Errorf("a reader that fails: %v", err)
	}
	if _, err := channel.Read(strings.NewReader("0,0\n1,0\n"), channel.Options{Normalize: true}); !errors.Is(err,
		channel.ErrMatrix) {
		t.Errorf("a row of zeros, divided by its sum: %v", err)
	}
	side := make([]string, 3000)
	entries := make([][]string, len(side))
	for i := range entries {
		entries[i] = side
	}
	if _, err := channel.New(nil, nil, entries); !errors.Is(err, channel.ErrMatrix) ||
		!strings.Contains(err.Error(), "3000 × 3000 entries are more than the limit, 4194304") {
		t.Errorf("nine million entries: %v", err)
	}
}

// Files that would fill memory are refused before they do.
func TestReadEndless(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("it reads a hundred megabytes; set DITHER_LONG=1")
	}
	for name, text := range map[string]string{"a field": "1", "a line": "0,", "lines": "1,0\n"} {
		if _, err := channel.Read(&endless{text: text}, channel.Options{}); !errors.Is(err, channel.ErrMatrix) ||
			!strings.Contains(err.Error(), "more than") {
			t.Errorf("%s without an end: %v", name, err)
		}
	}
}

// endless is a text again and again.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at%len(e.text)]
		e.at++
	}
	return len(p), nil
}

// Weights of the exponential mechanism, divided by their exact sums, lose what the theorem says at most; here, exactly
// that.
func TestNormalize(t *testing.T) {
	m, err := channel.Read(strings.NewReader("exp(1),1,exp(1/2)\n1,exp(1),exp(1/2)\n"),
		channel.Options{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	if l := epsilon(t, m, channel.AllPairs()); l.Exact != "1" {
		t.Errorf("%+v", l)
	}
	m, err = channel.Read(strings.NewReader("0.333333,.333333,.333333\n.1,.4,.499999\n"),
		channel.Options{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	if l := epsilon(t, m, channel.AllPairs()); l.Exact != "ln(333333/100000)" {
		t.Errorf("%+v", l)
	}
}

func TestReadPairs(t *testing.T) {
	m := read(t, "a,1.0,0\n2,.5,.5\nc,.25,.75\n") // a row that is named by another's number
	for text, want := range map[string]string{
		"a,c\n": "", "a,2\n": "", "2,c\n": "ln 2", "c,2\n2,c\n2,2\n": "ln 2", "input,neighbour\nc,2\n": "ln 2",
		"Inputs,x\n2,c\n": "ln 2",
	} {
		p, err := channel.ReadPairs(strings.NewReader(text), m)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if l := epsilon(t, m, p); l.Exact != want {
			t.Errorf("%q: ε = %q, want %q", text, l.Exact, want)
		}
	}
	for text, want := range map[string]string{
		"a,d\n":          `line 1 of the pairs: there is no row "d"`,
		"a,c\nfrom,to\n": `line 2 of the pairs: there is no row "from"`, "a\n": "has 1 fields, not 2",
		"a,3\n": `line 1 of the pairs: there is no row "3"`, "": "nothing to check",
		"input,neighbour\n": "nothing to check", "c,c\na,a\n": "nothing to check",
		"inputx,2\n": `no row "inputx"`, "input,2\na,c\n": `line 1 of the pairs: there is no row "input"`,
		"input5,input6\na,c\n": `no row "input5"`,
		"4,a\n":                `no row "4"`, "0,a\n": `no row "0"`, "a,-1\n": `no row "-1"`, "\"a\n": "parse error",
	} {
		if _, err := channel.ReadPairs(strings.NewReader(text), m); !errors.Is(err, channel.ErrMatrix) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := m.Epsilon(channel.Pairs([][2]int{{0, 3}})); !errors.Is(err, channel.ErrMatrix) {
		t.Errorf("a row that is not there: %v", err)
	}
	if _, err := m.Delta(channel.Pairs([][2]int{{-1, 2}}), channel.Exponent{}); !errors.Is(err, channel.ErrMatrix) {
		t.Errorf("a row that is not there: %v", err)
	}
}

func TestExponents(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1": "1", ".5": "0.5", "1/3": "1/3", "ln 3": "ln 3", "ln3": "ln 3", "ln(3/2)": "ln(3/2)",
		"1/2 + ln 3": "0.5 + ln 3", "1 - ln 2": "1 - ln 2", "ln(exp(1) + 1)": "ln(1 + exp(1))",
	} {
		if e, err := channel.ParseExponent(text); err != nil || e.String() != want {
			t.Errorf("%q is %v, %v; want %s", text, e, err, want)
		}
	}
	for _, text := range []string{
		"", "-1", "ln", "ln 0", "ln -1", "ln .5", "ln 3 + 1", "2 ln 3", "1 * ln 3", "exp(1)",
		"NaN", "inf", "1e9", "ln(2)(3)", "ln ln 3", "1 - ln 3",
	} {
		if e, err := channel.ParseExponent(text); !errors.Is(err, channel.ErrExponent) {
			t.Errorf("%q is %v, %v", text, e, err)
		}
	}
	if _, err := channel.ExponentOf(nil); !errors.Is(err, channel.ErrExponent) {
		t.Errorf("nil: %v", err)
	}
}

// Rows without names, or with names none of which is a number, have numbers, from 1.
func TestReadPairsNumbers(t *testing.T) {
	for _, text := range []string{"1,0\n.5,.5\n.25,.75\n", "a,1.0,0\nb,.5,.5\nc,.25,.75\n"} {
		m := read(t, text)
		p, err := channel.ReadPairs(strings.NewReader("input,3\n"), m)
		if err == nil {
			t.Errorf("a first line with a row in it was skipped: %v", p)
		}
		if p, err = channel.ReadPairs(strings.NewReader("input,4\n3,2\n"), m); err != nil {
			t.Fatal(err)
		}
		if l := epsilon(t, m, p); l.Exact != "ln 2" {
			t.Errorf("%q: ε = %q", text, l.Exact)
		}
	}
}

// Names never become weights: where rows are normalized they are announced by a first line.
func TestNormalizeNames(t *testing.T) {
	for _, text := range []string{
		"height,50,51\n50,exp(1),1\n51,1,exp(1)\n", "x,a,b\n50,exp(1),1\n51,1,exp(1)\n",
		"a,b\n50,exp(1),1\n51,1,exp(1)\n", "a,exp(1),1\nb,1,exp(1)\n",
		"50,exp(1),1\n51,1,exp(1)\n", "0.5,3,1\n1.5,1,3\n", "1,2,3\nexp(1),1,1\n1,exp(1),1\n",
		",a,b\n50,exp(1),1\n51,1,exp(1)\n", ",50,51\n50,exp(1),1\n51,1,exp(1)\n",
	} {
		_, err := channel.Read(strings.NewReader(text), channel.Options{Normalize: true})
		if !errors.Is(err, channel.ErrMatrix) || !strings.Contains(err.Error(), "input") {
			t.Errorf("%q: %v", text, err)
		}
	}
	m, err := channel.Read(strings.NewReader("input,50,51\n50,exp(1),1\n51,1,exp(1)\n"),
		channel.Options{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	if l := epsilon(t, m, channel.AllPairs()); l.Exact != "1" || m.Inputs()[0] != "50" {
		t.Errorf("%+v", l)
	}
}

// No text makes Read fail otherwise than with ErrMatrix, and what it reads is judged.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		".5,.5\n1/4,3/4\n", "input,a,b\nx,exp(1)/(1+exp(1)),1/(1+exp(1))\ny,.5,.5\n",
		"a,0,1\nb,1,0\n", "\xef\xbb\xbf1\r\n1",
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, normalize bool) {
		if len(text) > 1000 { // long ones take a second each
			return
		}
		m, err := channel.Read(strings.NewReader(text), channel.Options{Normalize: normalize})
		if err != nil {
			if !errors.Is(err, channel.ErrMatrix) {
				t.Fatal(err)
			}
			return
		}
		l, err := m.Epsilon(channel.AllPairs())
		if err != nil {
			return
		}
		if l.Private() && !(l.Lower <= l.Upper && l.Lower >= 0) {
			t.Fatalf("%+v", l)
		}
	})
}
