package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkProcess measures whole processes of `dither query`, from their start to their end, beside the plain statement
// on the same sealed file, in this process, which has started already: elapsed time, and the processor time of all threads.
func BenchmarkProcess(b *testing.B) {
	dir, rows := b.TempDir(), benchRows(b)
	bin, home := filepath.Join(dir, "dither"), filepath.Join(dir, "home")
	run := func(name string, args ...string) *os.ProcessState {
		command := exec.Command(name, args...)
		command.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
		if out, err := command.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		return command.ProcessState
	}
	run("go", "build", "-o", bin, "dither/cmd/dither")
	run(bin, "init", home)
	text := keysPolicy
	for file, from := range map[string]string{
		"v": "CAST(hash(i, 7) % " + integer(int64(rows/10)) + " AS BIGINT) AS person, " + keysColumns,
		"o": "CAST(hash(i, 8) % " + integer(int64(rows/10)) + " AS BIGINT) AS person, " + keysColumns,
		"r": keysColumns,
	} {
		text = strings.Replace(text, "{csv: "+file+".csv}", "{parquet: "+file+".parquet}", 1)
		path := filepath.Join(home, file+".parquet")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		err := NewSealer(filepath.Join(dir, "tmp")).with(context.Background(), func(conn *sql.Conn) error {
			return sealCopy(context.Background(), conn, "SELECT "+from+" FROM range("+integer(int64(rows))+") AS t(i)", path)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	run(bin, "-C", home, "seal")
	sealed := filepath.Join(home, "sealed")
	e := New(sealed, filepath.Join(dir, "spill"))
	defer e.Close()
	for _, table := range []string{"rows", "visits", "often"} {
		files, err := filepath.Glob(filepath.Join(sealed, table+"-*", "v1.parquet"))
		if err != nil || len(files) != 1 {
			b.Fatal(files, err)
		}
		for _, item := range []string{"COUNT(*)", "SUM(v)", "AVG(v)"} {
			b.Run(table+"/"+item, func(b *testing.B) {
				var elapsed, used [2][]time.Duration
				for b.Loop() {
					start := time.Now()
					ended := run(bin, "-C", home, "query", "--fresh", "--epsilon", "0.1",
						"SELECT region, "+item+" FROM "+table+" GROUP BY region")
					elapsed[0], used[0] = append(elapsed[0], time.Since(start)), append(used[0], ended.UserTime()+ended.SystemTime())
					start, before := time.Now(), processorTime(b)
					plain := "SELECT region, " + item + " FROM " + must(sealScan(files[0])) + " GROUP BY region"
					if err := e.run(context.Background(), plain, func([]driver.Value) error { return nil }); err != nil {
						b.Fatal(err)
					}
					elapsed[1], used[1] = append(elapsed[1], time.Since(start)), append(used[1], processorTime(b)-before)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(median(elapsed[0]))/float64(median(elapsed[1])), "ratio")
				b.ReportMetric(float64(median(used[0]))/float64(median(used[1])), "ratio-used")
				b.ReportMetric(float64(median(used[0]).Milliseconds()), "used-ms")
				b.ReportMetric(float64(median(used[1]).Milliseconds()), "plain-used-ms")
			})
		}
	}
}
