package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// The first collection is late, and those after it are as usual. GOGC has precedence.
func TestLateGarbage(t *testing.T) {
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	await := func(restored func() bool) {
		t.Helper()
		runtime.GC()
		for deadline := time.Now().Add(time.Minute); !restored(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d %% after the first collection", percent())
			}
		}
	}
	if os.Getenv("GOGC") == "" { // What the start of this process left to its first collection must not come between.
		await(func() bool { return percent() != late })
	}
	const usual = 123
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	t.Setenv("GOGC", "123")
	if lateGarbage(); percent() != usual {
		t.Errorf("%d %%, although GOGC is set", percent())
	}
	t.Setenv("GOGC", "")
	if lateGarbage(); percent() <= usual {
		t.Fatalf("%d %% before the first collection", percent())
	}
	await(func() bool { return percent() == usual })
}
