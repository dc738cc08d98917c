package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkReserve measures durable reservations. The figures are in docs/design/0002-ledger.md.
func BenchmarkReserve(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			_, l := begin(b, "1000000", "1")
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if _, err := l.Reserve(reservation(key(int(i)), "0.001")); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reserve/s")
		})
	}
}

// BenchmarkOpen measures reading a ledger again: what each run of a command pays.
func BenchmarkOpen(b *testing.B) {
	for _, entries := range []int{100, 10_000} {
		b.Run(strconv.Itoa(entries), func(b *testing.B) {
			dir, l := begin(b, "1000000", "1")
			for i := range entries {
				mustReserve(b, l, key(i), "0.001")
			}
			b.ResetTimer()
			for range b.N {
				again, err := Open(dir, clock)
				must(b, err)
				must(b, again.Close())
			}
		})
	}
}

// BenchmarkAppend is the file alone: lock, write, sync; no head, no checks. What it leaves of BenchmarkReserve is
// theirs.
func BenchmarkAppend(b *testing.B) {
	f, err := system{}.Open(filepath.Join(b.TempDir(), logName), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	must(b, err)
	line := []byte(strings.Repeat("x", 620) + "\n")
	for range b.N {
		must(b, f.Lock(true))
		must(b, writeAll(f, line))
		must(b, f.Unlock())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "append/s")
}

// BenchmarkOpenParts is BenchmarkOpen where every entry is about one of a thousand days, of which a unit is in up to
// three.
func BenchmarkOpenParts(b *testing.B) {
	dir, l := beginWith(b, dividedTerms("1000000", "1", 3), clock)
	for i := range 2000 {
		_, err := l.Reserve(confined(i, "0.001", fmt.Sprintf("%04d", i%1000)))
		must(b, err)
	}
	b.ResetTimer()
	for range b.N {
		again, err := Open(dir, clock)
		must(b, err)
		must(b, again.Close())
	}
}
