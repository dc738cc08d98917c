// Package page is the web page of a survey: it asks, randomizes each answer on the person's own device, shows the
// message before it sends it, and shows the results. Answers never leave the page.
//
// A collector serves [Handler], and three paths of [Paths]. The page makes no other requests.
//
// A message is drawn once, and stays in the browser's storage until it is sent. A person who could draw again, or
// another tab that draws too, would reveal more than ε. The memories of repeated questions are in the same storage.
//
// Claim: a browser draws no more messages than the survey allows, whatever its tabs do at once. Proof: the page reads
// the number of drawn messages, draws, and writes the number and the message in one transaction of IndexedDB.
// Transactions that write into one store never overlap, in any tab or process. The page shows and sends a message only
// after the transaction has ended, with "strict" durability. If the browser stores nothing, the transaction fails, and
// nothing is drawn. ∎
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"mime"
	"net/http"
	"path"
	"strings"

	"dither/clients"
)

//go:embed page.html page.css page.js collector.js icon.svg
var files embed.FS

// policy allows the page its own files and requests to its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// Paths are the paths of a collector, relative to the page's.
type Paths struct {
	Survey  string // GET: the public form of the survey
	Reports string // POST: a report as JSON
	Results string // GET: server-sent events with the results
}

// Standard has the paths of package collector.
var Standard = Paths{"v1/survey", "v1/reports", "v1/results/stream"}

// Handler serves the page at "/", and its files beside it. Other paths are not found.
func Handler(p Paths) http.Handler {
	served := map[string][]byte{}
	for name, from := range map[string]interface {
		ReadFile(string) ([]byte, error)
	}{
		"page.html": files, "page.css": files, "page.js": files, "collector.js": files, "icon.svg": files,
		"javascript/index.js": clients.JavaScript, "javascript/core.js": clients.JavaScript,
	} {
		text, err := from.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		served["/"+path.Base(name)] = text
	}
	attributes := ""
	for _, a := range [][2]string{{"survey", p.Survey}, {"reports", p.Reports}, {"results", p.Results}} {
		attributes += fmt.Sprintf(` data-%s="%s"`, a[0], html.EscapeString(a[1]))
	}
	served["/"] = bytes.Replace(served["/page.html"], []byte("{{paths}}"), []byte(attributes), 1)
	delete(served, "/page.html")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := served[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page is read with GET", http.StatusMethodNotAllowed)
			return
		}
		kind := mime.TypeByExtension(path.Ext(r.URL.Path))
		switch {
		case r.URL.Path == "/":
			kind = "text/html; charset=utf-8"
		case strings.HasSuffix(r.URL.Path, ".js"):
			kind = "text/javascript; charset=utf-8"
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(text) // a reader who has gone gets nothing
	})
}
