package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkProcess measures whole processes on a small sealed table, in milliseconds: a fresh question, an explanation, which
// needs no engine, and `dither version`, which starts the program and nothing else.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	bin := filepath.Join(dir, "dither")
	run := func(args ...string) time.Duration {
		command := exec.Command(bin, args...)
		command.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
		start := time.Now()
		if out, err := command.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		return time.Since(start)
	}
	if out, err := exec.Command("go", "build", "-o", bin, "dither/cmd/dither").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	home := filepath.Join(dir, "town")
	run("demo", "data", "--rows", "20000", "--out", home)
	run("-C", home, "seal")
	const question = "SELECT region, COUNT(*) FROM people GROUP BY region"
	var took [3]time.Duration
	n := 0
	for b.Loop() {
		took[0] += run("-C", home, "query", "--fresh", "--epsilon", "0.0003", question)
		took[1] += run("-C", home, "explain", question)
		took[2] += run("version")
		n++
	}
	b.ReportMetric(0, "ns/op")
	for i, name := range []string{"ms-question", "ms-explain", "ms-version"} {
		b.ReportMetric(took[i].Seconds()*1000/float64(n), name)
	}
}
