// Package parallel runs many similar tasks on all processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls fn(0), fn(1), …, fn(n − 1), once each, on all processors, and returns when every call has returned.
// The calls start in this order.
func Each(n int, fn func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				fn(int(i))
			}
		})
	}
	wg.Wait()
}
