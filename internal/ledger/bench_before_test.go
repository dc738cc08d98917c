package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// before appends as programs did up to version 3 of the format: one entry a write, and a head file that is replaced
// each time. Benchmarks alone use it.
func (l *Ledger) before(r Reservation) error {
	m := &member{body: r}
	if err := r.validate(); err != nil {
		return err
	}
	return l.locked(func() error {
		p := l.admit([]*member{m})
		if m.err != nil {
			return m.err
		}
		if _, err := l.file.Write(p.data); err != nil {
			return err
		}
		if err := l.file.(systemFile).File.Sync(); err != nil {
			return err
		}
		read := make([]byte, len(p.data))
		if _, err := l.file.ReadAt(read, p.from); err != nil || !bytes.Equal(read, p.data) {
			return errors.Join(err, errors.New("it did not read back"))
		}
		h := &heads{slots: [2]slot{{head: Head{p.entries[0].e.Index, p.entries[0].e.Hash}}}, old: true}
		temp := filepath.Join(l.dir, tempName)
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(h.head().String() + "\n")
		err = errors.Join(err, f.Sync(), f.Close(), os.Rename(temp, filepath.Join(l.dir, headName)),
			l.fsys.SyncDir(l.dir))
		if err == nil {
			l.heads = h
			l.settle(p)
		}
		return err
	})
}

// BenchmarkBeside measures durable reservations as they are written now beside as they were, in turn, so that both meet
// the same disk. Reported are the
// medians of slices of the run, and their ratio: what docs/design/0002-ledger.md gives.
func BenchmarkBeside(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			reserve := map[string]func(*Ledger, Reservation) error{
				"before": (*Ledger).before,
				"now":    func(l *Ledger, r Reservation) error { _, err := l.Reserve(r); return err },
			}
			ledgers := map[string]*Ledger{}
			for name := range reserve {
				_, ledgers[name] = begin(b, "1000000", "1")
			}
			slice := 4 * callers // reservations of one form, then as many of the other
			took := map[string][]float64{}
			for done := 0; done < b.N; done += slice {
				for _, name := range []string{"before", "now"} {
					start := time.Now()
					var next atomic.Int64
					var wg sync.WaitGroup
					for range callers {
						wg.Go(func() {
							for i := next.Add(1); i <= int64(slice); i = next.Add(1) {
								if err := reserve[name](ledgers[name],
									reservation(key(done+int(i)), "0.001")); err != nil {
									b.Error(err)
									return
								}
							}
						})
					}
					wg.Wait()
					took[name] = append(took[name], time.Since(start).Seconds())
				}
			}
			median := func(of string) float64 { slices.Sort(took[of]); return took[of][len(took[of])/2] }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(slice)/median("before"), "before/s")
			b.ReportMetric(float64(slice)/median("now"), "now/s")
			b.ReportMetric(median("before")/median("now"), "ratio")
		})
	}
}
