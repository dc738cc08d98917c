package clients_test

import (
	"math"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dither/local/collector"
	"dither/local/survey"
)

// run runs a program. If it is missing, the test is skipped, or fails where it must be present (.ci/run).
func run(t *testing.T, need, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv(need) != "" {
			t.Fatalf("%s is missing, and %s is set", name, need)
		}
		t.Skipf("NOT CHECKED: %s is missing, so this client is not compared with the Go code", name)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The JavaScript module makes the reports of the Go code from the same random bytes, and refuses bad input.
func TestJavaScript(t *testing.T) {
	out := run(t, "DITHER_TEST_NEEDS_NODE", "node", "javascript/test.mjs")
	if !strings.HasSuffix(out, " checks\n") {
		t.Errorf("the program did not reach its end: %s", out)
	}
	t.Log(out)
}

// So does the Python module.
func TestPython(t *testing.T) {
	out := run(t, "DITHER_TEST_NEEDS_PYTHON", "python3", "-B", "python/test.py")
	if !strings.HasSuffix(out, " checks\n") {
		t.Errorf("the program did not reach its end: %s", out)
	}
	t.Log(out)
}

// A device in Python answers a survey over HTTP, twice with one memory. All lies together have a probability below 1e-6.
func TestPythonAnswersSurvey(t *testing.T) {
	s, err := survey.Parse([]byte(`
survey: 1
name: meals
version: 1
lifetime: {reports: 2}
questions:
  - {name: meal, values: [tea, café, "<no & yes>"], mechanism: krr, epsilon: 22}
  - {name: hours, bounds: [-2.5, 12.5], mechanism: piecewise, epsilon: 36}
  - {name: code, values: 100, mechanism: krr, epsilon: 24}
  - {name: again, values: 5, mechanism: dbit, epsilon: 40, positions: 5}
`))
	if err != nil {
		t.Fatal(err)
	}
	st, err := collector.Open(filepath.Join(t.TempDir(), "store"), s)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(collector.NewServer(st, collector.Options{}).Handler())
	defer server.Close()
	out := run(t, "DITHER_TEST_NEEDS_PYTHON", "python3", "-B", "python/test_survey.py", server.URL)
	r, err := st.Results(.95, collector.Malicious(0))
	if err != nil || out != "40\n" || r.Reports != 40 {
		t.Fatalf("%d reports are stored, %q, %v", r.Reports, out, err)
	}
	near := func(x, want, off float64) bool { return math.Abs(x-want) < off }
	meal, hours, code, again := r.Questions[0].Estimates, r.Questions[1].Mean, r.Questions[2].Estimates, r.Questions[3].Estimates
	if !near(meal[0].Count, 5, .01) || !near(meal[1].Count, 35, .01) || !near(hours.Mean, 7.5, .1) || !near(code[90].Count, 40, .01) ||
		!near(again[3].Count, 40, .1) {
		t.Errorf("%v, %v, %v, %v", meal, hours, code[90], again)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}
