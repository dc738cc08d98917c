package ledger

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// childOpens names a directory to a process of this test, which opens the ledger there and looks a few things up.
const childOpens = "DITHER_LEDGER_OPENS"

func opens(dir string) int {
	l, err := Open(dir, time.Now)
	if err == nil {
		_, err = l.State()
	}
	if err == nil {
		var a Answer
		if a, _, err = l.Find(key(1)); err == nil {
			_, err = a.Values()
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// grown writes a ledger of so many entries quickly, as an older program could have: its chain is whole, and it has
// neither an index nor a checkpoint. Of the reservations, the last ones are unanswered.
func grown(tb testing.TB, entries, unanswered int) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	f, err := os.Create(filepath.Join(dir, logName))
	must(tb, err)
	w := bufio.NewWriterSize(f, 1<<20)
	var tip Head
	var end int64
	n := uint64(0)
	put := func(b Body) {
		line, err := encodeLine(n, tip.Hash, testTime, b)
		must(tb, err)
		tip = Head{n, sha256.Sum256(line)}
		end += int64(len(line)) + 1
		_, err = w.Write(append(line, '\n'))
		must(tb, err)
		n++
	}
	put(Genesis{testID})
	put(Adoption{terms("100000000", "1"), 1})
	put(Seal{"visits", 1, digest})
	for i := 0; int(n) < entries; i++ {
		r := reservation(key(i), "0.001")
		r.Subject = &Subject{
			Question: mark(i % 1000), Measures: []string{mark(1000 + i%100), mark(2000 + i%100)},
			Conditions: []string{mark(i % 5000)},
		}
		put(r)
		if int(n)+unanswered < entries {
			put(Release{n - 1, values(i)})
		}
	}
	must(tb, w.Flush())
	must(tb, f.Close())
	_, err = replaceHeads(system{}, dir, slot{head: tip, end: end - 1})
	must(tb, err)
	return dir
}

// spent is what a process took.
type spent struct {
	cpu  time.Duration
	peak int64 // bytes
}

// opened runs so many processes at once that open a ledger.
func opened(tb testing.TB, dir string, processes int) (wall time.Duration, each []spent) {
	tb.Helper()
	each = make([]spent, processes)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range each {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childOpens+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				tb.Errorf("%v: %s", err, out)
				return
			}
			usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			each[i] = spent{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss << 10}
		})
	}
	wg.Wait()
	return time.Since(begin), each
}

// BenchmarkMillion measures processes that open a ledger of a million entries, as each command does: whole processes,
// by the clock, with their CPU time and peak memory. Unindexed is the first reading, without a checkpoint. The figures
// are in docs/design/0002-ledger.md.
func BenchmarkMillion(b *testing.B) {
	for _, unanswered := range []int{0, 50_000} {
		dir := grown(b, 1_000_000, unanswered)
		measure := func(name string, processes int) {
			b.Run(fmt.Sprintf("%s/unanswered=%d/processes=%d", name, unanswered, processes), func(b *testing.B) {
				var wall, cpu time.Duration
				var peak int64
				for range b.N {
					t, each := opened(b, dir, processes)
					wall += t
					for _, s := range each {
						cpu, peak = cpu+s.cpu, max(peak, s.peak)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(wall.Seconds()/float64(b.N), "s")
				b.ReportMetric(cpu.Seconds()/float64(b.N*processes), "cpu-s/process")
				b.ReportMetric(float64(peak)/1e6, "peak-MB")
			})
		}
		if os.Getenv("DITHER_LEDGER_UNINDEXED") != "" {
			measure("unindexed", 1)
		}
		l, err := Open(dir, clock)
		must(b, err)
		mustReserve(b, l, key(-1), "0.001") // which writes the checkpoint
		must(b, l.Close())
		measure("indexed", 1)
		measure("indexed", 4)
	}
}
