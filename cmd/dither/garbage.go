package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

func init() { lateGarbage() }

// late is the percentage by which the heap may grow before the first collection: from the least heap, 4 MB at 100 %, to 16 MB.
const late = 400

// lateGarbage makes the first garbage collection wait until the heap has 16 MB instead of 4 MB, unless GOGC is set. Most
// commands end before that, and two collections would take them some 3 ms. Later collections are as usual.
func lateGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(late)
	runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
}
