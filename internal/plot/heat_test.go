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

// heat returns a heat map of a function of the cell.
func heat(rows, columns int, f func(i, j int) float64) Heat {
	h := Heat{
		Title: "noisy counts", Caption: caption, X: "age", Y: "income", Of: "count",
		Rows: numbers(rows, "%d"), Columns: numbers(columns, "%d0–%[1]d9"),
	}
	for i := range rows {
		var row []float64
		for j := range columns {
			row = append(row, f(i, j))
		}
		h.Values = append(h.Values, row)
	}
	return h
}

func TestHeat(t *testing.T) {
	ridge := func(i, j int) float64 { return math.Round(900*math.Exp(-math.Pow(float64(i-j), 2)/8)) - 12 }
	odd := heat(3, 3, func(i, j int) float64 {
		return [][]float64{{math.NaN(), math.Inf(1), 1e300}, {-1e300, 0, 5e-324}, {math.Inf(-1), -0.5, 1e308}}[i][j]
	})
	wild := heat(len(hostile), 2, ridge)
	wild.Rows, wild.Title, wild.Caption, wild.X, wild.Y, wild.Of = hostile, hostile[0], hostile[1], hostile[2], hostile[3], hostile[4]
	for name, h := range map[string]Heat{
		"ten": heat(10, 10, ridge), "large": heat(60, 68, ridge), "low": heat(1, 12, ridge), "tall": heat(2048, 2, ridge), "none": {},
		"zeros": heat(9, 9, func(int, int) float64 { return 0 }), "odd": odd, "hostile": wild,
		"fractions": heat(9, 4, func(i, j int) float64 { return float64(i-j) / 3 }),
	} {
		var svg, again, picture bytes.Buffer
		if err := errors.Join(WriteHeat(&svg, SVG, h), WriteHeat(&again, SVG, h), WriteHeat(&picture, PNG, h)); err != nil {
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
		for _, bad := range []string{"<script", "NaN", "Inf"} {
			if strings.Contains(svg.String(), bad) {
				t.Errorf("%s holds %s", name, bad)
			}
		}
		drawn := picture.Bytes()
		if _, err := png.Decode(bytes.NewReader(drawn)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if *gallery != "" {
			if err := os.WriteFile(filepath.Join(*gallery, "heat_"+name+".png"), drawn, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, h := range map[string]Heat{
		"rows": {Rows: []string{"a"}}, "columns": {Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{{1, 2}}},
	} {
		if err := WriteHeat(io.Discard, SVG, h); !errors.Is(err, ErrChart) {
			t.Errorf("wrong %s: %v", name, err)
		}
	}
}

// Each number is printed once in its cell if all fit, and in none otherwise. The largest number has the darkest colour.
func TestHeatPrintsNumbers(t *testing.T) {
	svg := func(h Heat) string {
		var b bytes.Buffer
		if err := WriteHeat(&b, SVG, h); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	value := func(i, j int) float64 { return float64(1000 + 903*i + 101*j) }
	few, many := svg(heat(9, 9, value)), svg(heat(9, 60, value))
	for i := range 9 {
		for j := range 9 {
			if text := ">" + number(value(i, j), 0) + "<"; strings.Count(few, text) != 1 || strings.Contains(many, text) {
				t.Errorf("%s is not printed as it should be", text)
			}
		}
	}
	if strings.Count(few, "#0072B2") != 1 {
		t.Error("the largest number does not have the darkest colour")
	}
}
