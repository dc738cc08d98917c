package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Lines with long plain values are what the general code makes of them, in both directions. The lines that look alike
// and are not such lines are left to the general code, or give what it gives.
func TestPlainValues(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	long := strings.Repeat("5:AAAB+/", plainFrom)
	release := func(values string) Release { return Release{5, json.RawMessage(values)} }
	var lines []string
	taken := 0
	for _, b := range []Body{
		release(`"` + long + `"`),
		release(`"` + long + ` ~!<>&"`),
		release(`"short"`),
		release(`"` + long[:plainFrom-1] + `"`),
		release(`"` + long + `\n"`),
		release(`"` + long + `\""`),
		release(`"é` + long + `"`),
		release(`["` + long + `"]`),
		release(`{"values":"` + long + `"}`),
		Step{5, `"values":"`, json.RawMessage(`"` + long + `"`)},
	} {
		want, err := encodeWhole(7, Hash{1, 2}, at, b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encodeLine(7, Hash{1, 2}, at, b); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%.60s is encoded as %.200s, %v", want, got, err)
		}
		if _, ok := encodePlain(7, Hash{1, 2}, at, b); ok {
			taken++
		}
		lines = append(lines, string(want))
	}
	if taken != 3 {
		t.Errorf("%d bodies are plain, want 3", taken)
	}
	good, step := lines[0], lines[len(lines)-1]
	for _, change := range [][2]string{
		{`"values":"`, `"values": "`},
		{`"values":"`, `"value\u0073":"`},
		{`"values":"`, `"x\"values":"`},
		{`"values":"`, `"values":0,"values":"`},
		{`"values":"`, `"more":{},"values":"`},
		{`"values":"`, `"values:"`},
		{`"values":"`, `"values":"":"values":"`},
		{`"body":{`, `"body":[{`},
		{`"body":{`, `"kind":{`},
		{`"kind":"release"`, `"kind":"reserve"`},
		{`"kind":"release"`, `"kind":"step"`},
		{`"v":1`, `"v":99`},
		{`"v":1`, `"v":2`},
		{`"v":1`, `"v":"values":"`},
		{`"v":1,`, ``},
		{`"reservation":5,`, ``},
		{`"reservation":5`, `"reservation":"5"`},
		{`"reservation":5`, `"reservation":5,"RESERVATION":6`},
		{`"}}`, `"} }`},
		{`"}}`, `"}}}`},
		{`"}}`, `"}`},
		{`"}}`, `"}}{"v":1,"body":{"values":"` + long + `"}}`},
		{`:AAAB`, "\x00AAAB"},
		{`:AAAB`, `\uAAAB`},
		{`:AAAB`, `\qAAAB`},
		{`:AAAB`, "\xffAAAB"},
	} {
		lines = append(lines, strings.Replace(good, change[0], change[1], 1), strings.Replace(step, change[0], change[1], 1))
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 { // anything may be damaged
		line := []byte([]string{good, step}[r.IntN(2)])
		for range 1 + r.IntN(2) {
			i := r.IntN(250)
			if r.IntN(4) == 0 {
				i = len(line) - 1 - r.IntN(6)
			}
			line[i] = `"\{}:,[]1v `[r.IntN(11)]
		}
		lines = append(lines, string(line))
	}
	accepted := 0
	for _, line := range lines {
		want, wrong := decodeWhole([]byte(line))
		if wrong == nil {
			want.Hash = sha256.Sum256([]byte(line))
			accepted++
		}
		got, err := decodeLine([]byte(line))
		if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%.300s: %.100v, %v; want %.100v, %v", line, got, err, want, wrong)
		}
		if e, ok := decodePlain([]byte(line)); ok && wrong != nil {
			t.Errorf("%.300s is read as %.100v", line, e)
		}
	}
	_, one := decodePlain([]byte(good))
	if _, other := decodePlain([]byte(step)); !one || !other || accepted < 20 {
		t.Errorf("a plain line is not taken, or only %d lines are accepted", accepted)
	}
}

func BenchmarkLargeRelease(b *testing.B) {
	body := Release{5, json.RawMessage(`"5:` + strings.Repeat("AAAB+/", 1<<20) + `"`)}
	for name, encode := range map[string]func(uint64, Hash, time.Time, Body) ([]byte, error){
		"general": encodeWhole, "plain": encodeLine,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body.Values)))
			for b.Loop() {
				line, err := encode(7, Hash{1}, time.Unix(0, 0), body)
				if err == nil && name == "plain" {
					_, err = decodeLine(line)
				} else if err == nil {
					_, err = decodeWhole(line)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
