// Package sqlite measures what an appended row costs in SQLite, to compare with BenchmarkReserve and BenchmarkAppend of
// the ledger (docs/design/0002-ledger.md). It is a module of its own, so that SQLite is no dependency of dither.
package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "modernc.org/sqlite"
)

// BenchmarkReserve inserts one row a transaction, compare-and-swap on the newest, in WAL mode with synchronous=FULL.
func BenchmarkReserve(b *testing.B) {
	for _, head := range []bool{false, true} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("head=%t/callers=%d", head, callers), func(b *testing.B) { reserve(b, callers, head) })
		}
	}
}

func reserve(b *testing.B, callers int, head bool) {
	dir := b.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "ledger.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_txlock=immediate")
	must(b, err)
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE ledger (n INTEGER PRIMARY KEY, line TEXT NOT NULL); INSERT INTO ledger VALUES (0, '')")
	must(b, err)
	line := strings.Repeat("x", 620) // as long as the ledger's line of a reservation
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range callers {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				tx, err := db.Begin()
				must(b, err)
				var n int64
				must(b, tx.QueryRow("SELECT max(n) FROM ledger").Scan(&n))
				_, err = tx.Exec("INSERT INTO ledger VALUES (?, ?)", n+1, line)
				must(b, err)
				must(b, tx.Commit())
				if head { // inside no lock: callers=64 shows the cost, not a correct program
					must(b, replaceHead(dir, n+1))
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reserve/s")
}

// replaceHead does what the ledger's head file does.
func replaceHead(dir string, n int64) error {
	temp := filepath.Join(dir, fmt.Sprint("head.tmp.", n))
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	_, _ = f.WriteString(strings.Repeat("0", 70))
	if err := f.Sync(); err != nil {
		return err
	}
	_ = f.Close()
	if err := os.Rename(temp, filepath.Join(dir, "head")); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Error(err)
	}
}
