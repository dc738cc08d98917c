package parallel

import (
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 2, 1000} {
		called := make([]atomic.Int32, max(n, 0))
		Each(n, func(i int) { called[i].Add(1) })
		for i := range called {
			if got := called[i].Load(); got != 1 {
				t.Errorf("%d of %d was called %d times", i, n, got)
			}
		}
	}
}
