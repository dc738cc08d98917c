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

// BenchmarkProcess measures whole processes of `dither query`, from their start to their end, in turns with two others on
// the same sealed file: a whole process that runs the plain statement alone (testdata/plain), and the plain statement in
// this process, which has started already. The metrics are ratios of median times: elapsed time (clock), and the
// processor time of all threads (used).
func BenchmarkProcess(b *testing.B) {
	dir, rows := b.TempDir(), benchRows(b)
	bin, plain, home := filepath.Join(dir, "dither"), filepath.Join(dir, "plain"), filepath.Join(dir, "home")
	run := func(name string, args ...string) *os.ProcessState {
		command := exec.Command(name, args...)
		command.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
		if out, err := command.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		return command.ProcessState
	}
	run("go", "build", "-o", bin, "dither/cmd/dither")
	run("go", "build", "-o", plain, "./testdata/plain")
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
				question := "SELECT region, " + item + " FROM " + table + " GROUP BY region"
				statement := "SELECT region, " + item + " FROM " + must(sealScan(files[0])) + " GROUP BY region"
				process := func(name string, args ...string) time.Duration {
					ended := run(name, args...)
					return ended.UserTime() + ended.SystemTime()
				}
				turns := []func() time.Duration{ // each returns the processor time that it used
					func() time.Duration {
						return process(bin, "-C", home, "query", "--fresh", "--epsilon", "0.1", question)
					},
					func() time.Duration { return process(plain, statement) },
					func() time.Duration {
						before := processorTime(b)
						if err := e.run(context.Background(), statement, func([]driver.Value) error { return nil }); err != nil {
							b.Fatal(err)
						}
						return processorTime(b) - before
					},
				}
				var clock, used [3][]time.Duration
				for b.Loop() {
					for i, turn := range turns {
						start := time.Now()
						used[i] = append(used[i], turn())
						clock[i] = append(clock[i], time.Since(start))
					}
				}
				b.ReportMetric(0, "ns/op")
				for i, name := range []string{"dither", "process", "started"} {
					c, u := median(clock[i]), median(used[i])
					b.ReportMetric(c.Seconds()*1000, name+"-clock-ms")
					b.ReportMetric(u.Seconds()*1000, name+"-used-ms")
					if i > 0 {
						b.ReportMetric(float64(median(clock[0]))/float64(c), "clock/"+name)
						b.ReportMetric(float64(median(used[0]))/float64(u), "used/"+name)
					}
				}
			})
		}
	}
}
