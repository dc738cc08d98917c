package estimate_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/synth/estimate"
)

const manifest = `{"synthetic":true,"release":"r1","table":"t","method":"fixed","valid":true,"rows":4,"real_rows":4,` +
	`"measured":[["job","age"],["age","sex"],["pay"]],"columns":[{"name":"job","type":"text","binned":false,"values":["","baker","nurse"]},` +
	`{"name":"age","type":"integer","binned":false,"values":["1","2"]},{"name":"sex","type":"boolean","binned":false,"values":["false","true"]},` +
	`{"name":"pay","type":"real","binned":true}],"files":["t-1.csv","t-2.csv"]}`

// written writes files to a folder, and returns the path of the manifest.
func written(t *testing.T, manifest string, tables ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, text := range append([]string{manifest}, tables...) {
		name := []string{"t.draws.json", "t-1.csv", "t-2.csv"}[i]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "t.draws.json")
}

var (
	one = "job,age,sex,pay\nbaker,1,true,3\nnurse,2,false,4\nnurse,2,true,5\n,1,false,1\n"
	two = "job,age,sex,pay\nbaker,1,true,3\nnurse,1,false,4\nbaker,2,true,5\nnurse,2,false,1\n"
)

func estimated(t *testing.T, kind estimate.Kind, text string, files ...string) (*estimate.Result, error) {
	t.Helper()
	tables, err := estimate.Read(written(t, files[0], files[1:]...))
	if err != nil {
		return nil, err
	}
	s, err := estimate.ParseStatistic(kind, text)
	if err != nil {
		return nil, err
	}
	return tables.Estimate(t.Context(), s, 0.95)
}

// Means of two small tables, by hand, and which statistics have intervals. NULL is left out.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		kind   estimate.Kind
		text   string
		value  float64 // of the last coefficient
		reason string
	}{
		{estimate.Mean, "age", 1.5, ""},
		{estimate.Proportion, "job=nurse", (2.0/3 + 0.5) / 2, ""},
		{estimate.Linear, "age ~ job", (1 + 0.0) / 2, ""},
		{estimate.Linear, "age ~ sex", (0 + 0.0) / 2, ""},
		{estimate.Linear, "sex ~ job", (-0.5 - 1) / 2, "outside of the span"},
		{estimate.Mean, "pay", 3.25, "bins"},
	} {
		r, err := estimated(t, c.kind, c.text, manifest, one, two)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		last := r.Coefficients[len(r.Coefficients)-1]
		if math.Abs(last.Value-c.value) > 1e-9 {
			t.Errorf("%s is %v instead of %v", c.text, last.Value, c.value)
		}
		if c.reason == "" != (last.Interval != nil) || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %q, %+v", c.text, r.Reason, last.Interval)
		}
	}
	adaptive := strings.Replace(manifest, `"valid":true`, `"valid":false,"reason":"selected in rounds"`, 1)
	r, err := estimated(t, estimate.Proportion, "job=nurse", adaptive, one, two)
	if err != nil || r.Coefficients[0].Interval != nil || !strings.Contains(r.Reason, "selected in rounds") {
		t.Errorf("an adaptive selection has %+v, %v", r, err)
	}
	selected := strings.Replace(manifest, `"method":"fixed"`, `"method":"mst"`, 1)
	r, err = estimated(t, estimate.Linear, "age ~ job", selected, one, two)
	if err != nil || r.Coefficients[0].Interval != nil || !strings.Contains(r.Reason, "mst selected its pairs") {
		t.Errorf("a relation that mst selected has %+v, %v", r, err)
	}
	if r, err = estimated(t, estimate.Mean, "age", selected, one, two); err != nil || r.Coefficients[0].Interval == nil {
		t.Errorf("the mean of a column by mst has %+v, %v", r, err)
	}
}

func TestBadInput(t *testing.T) {
	for name, call := range map[string]func() error{
		"no column":  func() error { _, err := estimated(t, estimate.Mean, "size", manifest, one, two); return err },
		"no value":   func() error { _, err := estimated(t, estimate.Proportion, "job=king", manifest, one, two); return err },
		"no formula": func() error { _, err := estimated(t, estimate.Linear, "age", manifest, one, two); return err },
		"a formula":  func() error { _, err := estimated(t, estimate.Mean, "age ~ sex", manifest, one, two); return err },
		"twice":      func() error { _, err := estimated(t, estimate.Linear, "age ~ age", manifest, one, two); return err },
		"a text":     func() error { _, err := estimated(t, estimate.Mean, "job", manifest, one, two); return err },
		"not binary": func() error { _, err := estimated(t, estimate.Logistic, "age ~ sex", manifest, one, two); return err },
		"separated":  func() error { _, err := estimated(t, estimate.Logistic, "sex ~ job", manifest, one, two); return err },
		"no file":    func() error { _, err := estimated(t, estimate.Mean, "age", manifest, one); return err },
		"fewer rows": func() error { _, err := estimated(t, estimate.Mean, "age", manifest, one, "age\n1\n"); return err },
		"empty":      func() error { _, err := estimated(t, estimate.Mean, "age", manifest, one, ""); return err },
		"other header": func() error {
			_, err := estimated(t, estimate.Mean, "age", manifest, one, "a\n1\n2\n3\n4\n")
			return err
		},
		"ragged": func() error { _, err := estimated(t, estimate.Mean, "age", manifest, one, "age\n1,2\n"); return err },
		"a column with an empty text": func() error {
			of := strings.Replace(manifest, `"name":"job",`, `"name":"job","empty":true,`, 1)
			_, err := estimated(t, estimate.Proportion, "job=nurse", of, one, two)
			return err
		},
		"no manifest": func() error { _, err := estimated(t, estimate.Mean, "age", "{}"); return err },
		"no JSON":     func() error { _, err := estimated(t, estimate.Mean, "age", one); return err },
		"elsewhere": func() error {
			_, err := estimated(t, estimate.Mean, "age", strings.Replace(manifest, "t-1.csv", "../t-1.csv", 1), one, two)
			return err
		},
	} {
		if err := call(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := estimate.Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing manifest: %v", err)
	}
}

// A statistic that is parsed is written as it was read, and no text makes the parser panic.
func FuzzParseStatistic(f *testing.F) {
	for _, text := range []string{"age", "job=nurse", "age ~ job + sex", "job=nurse ~ age", "~", "=", "a ~ ", "a=b=c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []estimate.Kind{estimate.Mean, estimate.Proportion, estimate.Linear, estimate.Logistic} {
			s, err := estimate.ParseStatistic(kind, text)
			if err != nil {
				continue
			}
			again, err := estimate.ParseStatistic(kind, strings.TrimPrefix(s.String(), string(kind)+" "))
			if err != nil || again.String() != s.String() {
				t.Errorf("%q becomes %q, and then %q (%v)", text, s.String(), again.String(), err)
			}
		}
	})
}

// No manifest makes the reader panic.
func FuzzManifest(f *testing.F) {
	f.Add(manifest)
	f.Add("{}")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = estimated(t, estimate.Linear, "age ~ job", text, one, two)
	})
}
