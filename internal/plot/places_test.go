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
	"testing"
)

// Places are drawn as pictures that can be read, whatever is in them, and the same ones alike.
func TestPlaces(t *testing.T) {
	nan := math.NaN()
	cross := func(x, y, half float64, series int) Cross {
		return Cross{Point{x, y}, Point{x - half, y - half}, Point{x + half, y + half}, series}
	}
	six := Places{Title: "Centres", Caption: "made up", X: "x", Y: "y", Low: Point{-1, -1}, High: Point{1, 1}, Series: []string{"one", "two"}}
	for i := range 6 {
		six.Panels = append(six.Panels, PlacePanel{Name: "t = " + string(rune('0'+i)), Dots: []Point{{0.1, 0.2}, {0.3, nan}, {5, 5}}, Crosses: []Cross{cross(0.2, 0.3, 0.2, 0), cross(-0.4, 0.9, 0.4, 1)}, Diagonal: true})
	}
	for name, p := range map[string]Places{
		"six":     six,
		"alone":   {Title: "one", Panels: []PlacePanel{{Crosses: []Cross{cross(30, 1e5, 10, 0), {Point{20, 2e5}, Point{nan, nan}, Point{nan, nan}, 0}}}}},
		"nothing": {},
		"extreme": {Panels: []PlacePanel{{Name: "<b>&", Dots: []Point{{math.Inf(1), 0}, {1e308, -1e308}}, Crosses: []Cross{cross(nan, 1, 1, 0), cross(0, 0, math.Inf(1), 0)}, Diagonal: true}}},
		"point":   {Low: Point{1, 1}, High: Point{1, 1}, Panels: []PlacePanel{{Dots: []Point{{3, 3}}}, {Dots: []Point{{3, 3}}}}},
	} {
		for _, f := range Formats {
			var out, again bytes.Buffer
			if err := WritePlaces(&out, f, p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := WritePlaces(&again, f, p); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
				t.Errorf("%s: %s differs from itself: %v", name, f, err)
			}
			if dir := os.Getenv("DITHER_PICTURES"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, "places-"+name+"."+string(f)), out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if f == PNG {
				if _, err := png.Decode(&out); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if bytes.Contains(out.Bytes(), []byte("NaN")) || bytes.Contains(out.Bytes(), []byte("Inf")) {
				t.Errorf("%s: no number in the picture", name)
			}
			for d := xml.NewDecoder(&out); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	for name, p := range map[string]Places{
		"series": {Series: make([]string, MaxSeries+1)},
		"panels": {Panels: make([]PlacePanel, MaxPanels+1)},
		"cross":  {Panels: []PlacePanel{{Crosses: []Cross{{Series: 1}}}}},
	} {
		if err := WritePlaces(io.Discard, SVG, p); !errors.Is(err, ErrChart) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
