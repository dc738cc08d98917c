package clients_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The Go code makes the reports of the vectors when it is compiled to WebAssembly, where integers and floats are those
// of a browser. The size of the smallest program is logged, beside that of the JavaScript module.
func TestWebAssembly(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("compiles the standard library for another processor; DITHER_LONG=1 runs it")
	}
	run(t, "DITHER_TEST_NEEDS_NODE", "node", "--version")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	goroot := strings.TrimSpace(string(root))
	build := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	execute := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("node", append([]string{filepath.Join(goroot, "lib/wasm/wasm_exec_node.js")}, args...)...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} // Go's glue limits their size
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("node %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, dir := range []string{"../local", "../local/mean"} {
		program := filepath.Join(t.TempDir(), "test.wasm")
		build("test", "-c", "-vet=off", "-o", program, dir)
		if out := execute(dir, program, "-test.run=^TestVectors$", "-test.v"); !strings.Contains(out, "--- PASS: TestVectors") {
			t.Errorf("%s did not run its vectors: %s", dir, out)
		}
	}

	program := filepath.Join(t.TempDir(), "small.wasm")
	build("build", "-ldflags=-s -w", "-o", program, "./testdata/wasm")
	if out := execute(".", program); !regexp.MustCompile(`^[048c]0\n$`).MatchString(out) {
		t.Errorf("the program sent %q", out)
	}
	t.Logf("gzipped: WebAssembly %d bytes, JavaScript %d bytes", gzipped(t, program),
		gzipped(t, "javascript/core.js")+gzipped(t, "javascript/index.js"))
}

func gzipped(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}
