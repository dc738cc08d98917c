// Package clients contains the randomizers of package local for programs that are not in Go: a JavaScript module, and a
// Python module. From the same random bytes they make the same reports as the Go code. The tests run the vectors of
// testdata, which the tests of packages local and local/mean write, in each language.
package clients

import "embed"

// JavaScript has the files of the JavaScript module: index.js, and core.js, which it imports.
//
//go:embed javascript/index.js javascript/core.js
var JavaScript embed.FS
