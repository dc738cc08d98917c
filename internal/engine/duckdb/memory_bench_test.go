package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// highWater finds the most memory that a process has held, in kB, in what Linux tells of it.
var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak runs a statement in a process of its own and returns the most memory that it held, in MB.
func peak(b *testing.B, sealed, statement string) float64 {
	b.Helper()
	command := exec.Command(os.Args[0], "-test.run", "^TestStatementInAProcess$", "-test.v")
	command.Env = append(os.Environ(), "DITHER_BENCH_SEALED="+sealed, "DITHER_BENCH_STATEMENT="+statement)
	out, err := command.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	found := highWater.FindSubmatch(out)
	if found == nil {
		b.Fatalf("no peak in %s", out)
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		b.Fatal(err)
	}
	return float64(kilobytes) / 1024
}

// TestStatementInAProcess is what peak runs.
func TestStatementInAProcess(t *testing.T) {
	statement := os.Getenv("DITHER_BENCH_STATEMENT")
	if statement == "" {
		t.Skip("only in a benchmark's process")
	}
	sealed := os.Getenv("DITHER_BENCH_SEALED")
	e := New(sealed, filepath.Join(filepath.Dir(sealed), "spill"))
	defer e.Close()
	if err := e.run(context.Background(), statement, func([]driver.Value) error { return nil }); err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(highWater.Find(status)))
}
