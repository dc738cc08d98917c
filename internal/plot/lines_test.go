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
			{"zcdp", curve(40, func(x float64) float64 { return math.Exp(-x) })},
			{"pld", curve(40, func(x float64) float64 { return math.Exp(-x * x) })},
		}},
		"none":  {},
		"point": {Lines: []Line{{"one", []Point{{3, 1e-6}}}}},
		"broken": {Title: "a line of parts", Lines: []Line{{"x", []Point{
			{0, 1}, {1, 0}, {2, 0.5}, {3, math.NaN()}, {4, math.Inf(1)}, {math.NaN(), 1}, {5, 5e-324}, {6, 1e308}, {math.Inf(1), 1}, {7, -1},
		}}}},
		"hostile": {Title: strings.Join(hostile, " "), Caption: hostile[0], X: hostile[1], Y: hostile[2], Lines: []Line{{hostile[0], curve(3, math.Exp)}, {hostile[3], nil}}},
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
