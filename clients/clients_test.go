package clients_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
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
