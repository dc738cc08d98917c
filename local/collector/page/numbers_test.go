package page_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"dither/local/collector"
	"dither/local/collector/page"
	"dither/local/survey"
)

// A question about a number, asked by a real collector: the page clamps and randomizes the number, the collector accepts
// the report, and the page shows the mean. With ε = 40, the report is within 0.01 of the number.
func TestPageAsksForNumbers(t *testing.T) {
	s, err := survey.Parse([]byte(`
survey: 1
name: sleep
version: 1
questions:
  - {name: hours, text: "How many hours do you sleep?", bounds: [-2.5, 12], mechanism: piecewise, epsilon: 40}
  - {name: dream, values: [yes, no], mechanism: krr, epsilon: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	st, err := collector.Open(filepath.Join(t.TempDir(), "store"), s)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(collector.NewServer(st, collector.Options{Page: page.Handler(page.Standard)}).Handler())
	defer func() {
		server.CloseClientConnections() // the stream of results
		server.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	b := start(t)
	f := &fake{Server: server}
	sum := 0.0
	for i, of := range []struct {
		typed string
		want  float64
	}{{"7.25", 7.25}, {"99", 12}, {"-1e3", -2.5}} {
		visit(b, f, false)
		b.eval(`document.getElementById("q0").value = "` + of.typed + `"; document.querySelector("input[name=q1]").click()`)
		if valid := b.eval(`document.getElementById("form").checkValidity()`); valid != true {
			t.Fatalf("%s is no valid number", of.typed)
		}
		text := b.eval(`document.querySelector("#form button").click(); document.getElementById("message").textContent`).(string)
		var message struct{ Answers map[string]string }
		if err := json.Unmarshal([]byte(text), &message); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		bytes, err := hex.DecodeString(message.Answers["hours"])
		if err != nil {
			t.Fatal(err)
		}
		r := s.Questions[0].Numbers
		report, err := r.Unpack(bytes)
		if err != nil {
			t.Fatal(err)
		}
		x, err := r.Value(report)
		if err != nil {
			t.Fatal(err)
		}
		center, half := s.Questions[0].Scale()
		if got := center + half*x; math.Abs(got-of.want) > .01 {
			t.Errorf("%s becomes %v, want %v", of.typed, got, of.want)
		}
		sum += of.want
		b.eval(`document.getElementById("send").click(); ` + until(`document.getElementById("status").textContent.startsWith("Thank you")`))
		if n, err := st.Reports(); err != nil || n != int64(i+1) {
			t.Fatalf("%d reports after %d, %v", n, i+1, err)
		}
	}
	visit(b, f, true)
	b.eval(until(`document.getElementById("count").textContent.startsWith("3 ")`))
	row := b.eval(`document.querySelector("#charts tbody tr").innerText`).(string)
	if !strings.HasPrefix(row, "3") || !strings.Contains(row, "5.") { // (7.25 + 12 − 2.5)/3 = 5.58
		t.Errorf("the mean %v is shown as %q", sum/3, row)
	}
	if head := b.eval(`document.querySelector("#charts thead").innerText`).(string); !strings.Contains(head, "−2.5 to 12") {
		t.Errorf("the axis is %q", head)
	}
	if err := b.complaints(); err != nil {
		t.Error(err)
	}
}
