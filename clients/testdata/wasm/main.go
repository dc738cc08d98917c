//go:build js

// Program wasm is the smallest program with a randomizer, compiled to WebAssembly. TestWebAssembly states its size.
package main

import (
	"encoding/hex"
	"syscall/js"

	"dither/local"
	"dither/privacy"
)

func main() {
	e, err := privacy.ParseEpsilon("1")
	if err != nil {
		panic(err)
	}
	o, err := local.New(local.Params{Mechanism: "krr", Values: 4, Epsilon: e})
	if err != nil {
		panic(err)
	}
	report, err := o.Randomize(2)
	if err != nil {
		panic(err)
	}
	js.Global().Get("console").Call("log", hex.EncodeToString(report))
}
