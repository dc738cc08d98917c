package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func curve(n int, f func(x float64) float64) []Point {
	out := make([]Point, n)
	for i := range out {
		x := float64(i) / 4
		out[i] = Point{x, f(x)}
	}
	return out
}

func TestLines(t *testing.T) {
	for name, l := range map[string]Lines{
		"two": {Title: "δ(ε) of a job", Caption: "certified", X: "ε", Y: "δ", Lines: []Line{
			{Name: "zcdp", Points: curve(40, func(x float64) float64 { return math.Exp(-x) })},
			{Name: "pld", Points: curve(40, func(x float64) float64 { return math.Exp(-x * x) })},
		}},
		"marked": {Title: "marked", Lines: []Line{{Name: "first", Points: nil}, {Name: "second", Points: curve(40, func(x float64) float64 { return math.Exp(-x) })}}, Marked: []Point{{2, 1e-6}, {1, 0}, {math.NaN(), 1}}},
		"none":   {},
		"linear": {Title: "shares", X: "questions", Y: "share", Linear: true, Lines: []Line{
			{Name: "rising", Points: curve(40, func(x float64) float64 { return 1 - math.Exp(-x) })},
			{Name: "flat", Points: curve(40, func(float64) float64 { return 0.5 })},
			{Name: "broken", Points: []Point{{0, -0.2}, {1, math.NaN()}, {2, math.Inf(1)}, {3, 0}, {4, -0.1}}},
		}},
		"level": {Linear: true, Lines: []Line{{Name: "one", Points: []Point{{1, 0}, {2, 0}}}}},
		"point": {Lines: []Line{{Name: "one", Points: []Point{{3, 1e-6}}}}},
		"broken": {Title: "a line of parts", Lines: []Line{{Name: "x", Points: []Point{
			{0, 1}, {1, 0}, {2, 0.5}, {3, math.NaN()}, {4, math.Inf(1)}, {math.NaN(), 1}, {5, 5e-324}, {6, 1e308}, {math.Inf(1), 1}, {7, -1},
		}}}},
		"hostile": {Title: strings.Join(hostile, " "), Caption: hostile[0], X: hostile[1], Y: hostile[2], Lines: []Line{{Name: hostile[0], Points: curve(3, math.Exp)}, {Name: hostile[3], Points: nil}}},
	} {
		var svg, again, picture bytes.Buffer
		if err := errors.Join(WriteLines(&svg, SVG, l), WriteLines(&again, SVG, l), WriteLines(&picture, PNG, l)); err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(svg.Bytes(), again.Bytes()) {
			t.Errorf("%s is drawn in two ways", name)
		}
		for d := xml.NewDecoder(bytes.NewReader(svg.Bytes())); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(svg.String(), "<script") || strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
			t.Errorf("%s holds what it should not", name)
		}
		drawn := picture.Bytes()
		if _, err := png.Decode(bytes.NewReader(drawn)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if *gallery != "" {
			if err := errors.Join(os.WriteFile(filepath.Join(*gallery, "lines_"+name+".svg"), svg.Bytes(), 0o600), os.WriteFile(filepath.Join(*gallery, "lines_"+name+".png"), drawn, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := WriteLines(io.Discard, SVG, Lines{Lines: make([]Line, MaxSeries+1)}); !errors.Is(err, ErrChart) {
		t.Errorf("too many lines: %v", err)
	}
	if err := WriteLines(io.Discard, "gif", Lines{}); err == nil {
		t.Error("gif was drawn")
	}
}

// A caption of up to eight lines is drawn to its end, and one that does not fit ends with dots.
func TestLongCaptions(t *testing.T) {
	for words, want := range map[int]string{130: "last.", 1000: "…"} {
		caption := strings.Repeat("five ", words) + "last."
		lines := newPage(&Chart{Caption: caption, Groups: make([]string, 9)}).caption
		if len(lines) > captionLines || !strings.HasSuffix(lines[len(lines)-1], want) {
			t.Errorf("%d words: %q", words, lines)
		}
	}
}

// A line has the colour of its place, whatever others are drawn, and its swatch the same; the ticks are of one notation.
func TestLinesKeepTheirColours(t *testing.T) {
	falling := curve(40, func(x float64) float64 { return math.Exp(-2 * x) })
	drawn := func(l ...Line) string {
		var b bytes.Buffer
		if err := WriteLines(&b, SVG, Lines{Lines: l}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	alone, both := drawn(Line{Name: "first"}, Line{Name: "second", Points: falling}),
		drawn(Line{Name: "first", Points: falling}, Line{Name: "second", Points: falling})
	for hue, want := range map[string][2]int{"#0072B2": {0, 2}, "#E69F00": {2, 2}} {
		if got := [2]int{strings.Count(alone, hue), strings.Count(both, hue)}; got != want {
			t.Errorf("%s is drawn %d times without the first line and with it, not %d", hue, got, want)
		}
	}
	if strings.Contains(alone, "first") || !strings.Contains(alone, "1e0<") || !strings.Contains(alone, "1e-8<") || strings.Contains(alone, "0.01") {
		t.Error("the legend or the ticks are others")
	}
}

// A line without a name has no swatch. Axes reach the points of Reach. Texts below the axis stand at the same places in all
// rows, and those without room are left out.
func TestLinesAboveTexts(t *testing.T) {
	step := []Point{{0, 1}, {6, 1}, {6, 0.8}}
	drawn := func(l Lines) string {
		var b bytes.Buffer
		l.Linear = true
		if err := WriteLines(&b, SVG, l); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if n := strings.Count(drawn(Lines{Lines: []Line{{Points: step}}}), "#0072B2"); n != 1 {
		t.Errorf("a line without a name is drawn %d times", n)
	}
	if n := strings.Count(drawn(Lines{Lines: []Line{{Name: "x", Points: step}}}), "#0072B2"); n != 2 {
		t.Errorf("a line with a name is drawn %d times", n)
	}
	reaching := drawn(Lines{Lines: []Line{{Points: step}}, Reach: []Point{{0, 0}, {24, 1}}})
	if !strings.Contains(reaching, ">0.0<") || !strings.Contains(reaching, ">24<") && !strings.Contains(reaching, ">20<") {
		t.Error("the axes end early")
	}
	texts := Lines{Below: "at risk", Lines: []Line{
		{Name: "first", Points: step, Below: []Below{{0, "1001"}, {0.01, "1002"}, {3, "1003"}, {5, "1004"}}},
		{Name: "second", Points: step, Below: []Below{{0, "2001"}, {5, "2004"}}},
		{Name: "third", Points: step},
	}}
	below := drawn(texts)
	for text, want := range map[string]int{
		">at risk<": 1, ">1001<": 1, ">1002<": 0, ">1003<": 1, ">1004<": 1, ">2001<": 1, ">2004<": 1, ">first<": 2, ">third<": 1,
	} {
		if got := strings.Count(below, text); got != want {
			t.Errorf("%s is drawn %d times, not %d", text, got, want)
		}
	}
	for i := range texts.Lines {
		texts.Lines[i].Below = nil
	}
	if strings.Contains(drawn(texts), "at risk") {
		t.Error("a heading above no texts")
	}
}
