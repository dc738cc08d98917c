package bounds_test

import (
	"crypto/rand"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/bounds"
)

// pinned makes all noise of a test come from a seed, through the reader that the kernel's randomness comes from.
func pinned(t *testing.T, seed byte) {
	t.Helper()
	system := rand.Reader
	rand.Reader = mathrand.NewChaCha8([32]byte{seed})
	t.Cleanup(func() { rand.Reader = system })
}

// sealed makes a home from a policy and CSV files, each for a table of its name, and seals it.
func sealed(t *testing.T, policy string, files map[string]string) (*curator.Owner, string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	must(t, curator.Init(home))
	must(t, os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(policy), 0o600))
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(home, name+".csv"), []byte(text), 0o600))
	}
	owner, err := curator.Open(home)
	must(t, err)
	t.Cleanup(func() { _ = owner.Close() })
	for name := range files {
		_, err := owner.Seal(t.Context(), name, curator.SealOptions{})
		must(t, err)
	}
	return owner, home
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// examined returns the report of a doctor.
func examined(t *testing.T, owner *curator.Owner, o bounds.Options) (*bounds.Doctor, *bounds.Report) {
	t.Helper()
	d, err := bounds.New(t.Context(), owner, o)
	must(t, err)
	r, err := d.Examine(t.Context())
	must(t, err)
	return d, r
}

const shapesPolicy = `
version: 1
population: {name: shapes}
budget: {%s}
price: {default: %s}
tables:
  shapes:
    source: {csv: shapes.csv}
    unit: row
    columns:
`

// The doctor's bounds of twelve shapes, through a sealed home: the errors of typical questions under them are within
// 1.2 of the least that bounds chosen with the rows could have. The noise is pinned, so the test cannot fail by chance.
func TestErrorsOfAdvisedBounds(t *testing.T) {
	pinned(t, 1)
	const n = 60_000
	shapes := bounds.Shapes()
	r := mathrand.New(mathrand.NewPCG(5, 6))
	values, header := make([][]float64, len(shapes)), make([]string, len(shapes))
	var policy, rows strings.Builder
	fmt.Fprintf(&policy, shapesPolicy, "epsilon: 40", "0.15")
	for i, s := range shapes {
		header[i] = fmt.Sprintf("x%d", i)
		declared := ""
		if i%3 == 1 {
			declared = s.Wide
		}
		fmt.Fprintf(&policy, "      x%d: {type: %s%s}\n", i, s.Type, declared)
		values[i] = make([]float64, n)
		for j := range n {
			values[i][j] = s.Draw(r)
		}
	}
	rows.WriteString(strings.Join(header, ",") + "\n")
	for j := range n {
		for i, s := range shapes {
			if i > 0 {
				rows.WriteByte(',')
			}
			rows.WriteString(s.Text(values[i][j]))
		}
		rows.WriteByte('\n')
	}
	owner, _ := sealed(t, policy.String(), map[string]string{"shapes": rows.String()})
	d, report := examined(t, owner, bounds.Options{})
	t.Logf("price %s", d.Price)
	for i, s := range shapes {
		k := slices.IndexFunc(report.Advice, func(a bounds.Advice) bool { return a.Column == header[i] })
		if k < 0 || report.Advice[k].Abstains {
			t.Errorf("%s: no advice", s.Name)
			continue
		}
		a := report.Advice[k]
		better := a.Better
		if better == "" {
			better = a.Present
		}
		ratio, best := s.Ratio(values[i], better, math.Sqrt2/0.15)
		t.Logf("%-16s %-28s → %-28s %.3f times the error of %s", s.Name, a.Present, better, ratio, best)
		if !(ratio <= 1.2) {
			t.Errorf("%s: the error under %s is %.3f times the least", s.Name, better, ratio)
		}
	}
	remaining := report.Remaining.Epsilon
	again, replayed := examined(t, owner, bounds.Options{})
	if !again.Free || replayed.Remaining.Epsilon != remaining || !slices.EqualFunc(report.Advice, replayed.Advice, sameAdvice) {
		t.Errorf("a second examination is not the first, free: %v", again.Free)
	}
}

func sameAdvice(a, b bounds.Advice) bool {
	return a.Table == b.Table && a.Column == b.Column && a.Better == b.Better && a.Reason == b.Reason
}
