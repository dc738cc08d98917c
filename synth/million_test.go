package synth

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"dither/internal/splitmix"
	"dither/internal/testhome"
)

// TestMillionRows synthesizes a million rows of 30 columns with 2 to 16 values each, by AIM at ρ = 0.5, writes as many
// rows, and prints the time. The kernel counts some 4,500 marginals, and AIM runs some 90 rounds. Half of the values of a
// row follow one hidden number, so all columns are related, and a model of 1 MB cannot hold all pairs. Still AIM must
// leave at most 0.5 of the error of independent columns. The noise has next to no part in that: it is a few rows of a
// million.
func TestMillionRows(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("it takes a minute: set DITHER_LONG=1")
	}
	const rows, columns = 1_000_000, 30
	sizes := make([]int, columns)
	var policy, text bytes.Buffer
	policy.WriteString(`
version: 1
population: {name: many, neighbours: add-remove}
budget: {rho: 2, delta: 1e-6}
price: {default: 0.2, maximum: 1}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
`)
	for i := range sizes {
		sizes[i] = []int{2, 3, 5, 8, 16}[i%5]
		fmt.Fprintf(&policy, "      c%d: {type: integer, bounds: [0, %d]}\n", i, sizes[i]-1)
		fmt.Fprintf(&text, "c%d%s", i, map[bool]string{true: "\n", false: ","}[i == columns-1])
	}
	r := splitmix.At(7)
	uniform := func() float64 { return float64(r.Word()>>11) / (1 << 53) }
	for range rows {
		hidden := uniform()
		for i, n := range sizes {
			x := hidden
			if u := uniform(); u < 0.5 {
				x = 4 * u * u
			}
			_, _ = fmt.Fprint(&text, int(x*float64(n)))
			text.WriteByte(map[bool]byte{true: '\n', false: ','}[i == columns-1])
		}
	}
	c, _ := testhome.Opened(t, testhome.Files(policy.String(), map[string]string{"t.csv": text.String()}), "t")
	real := coded(t, text.String())[:8]
	off := map[Method]float64{}
	for _, method := range []Method{Independent, AIM} {
		before, _ := used(t)
		result, err := Synthesize(t.Context(), c.Session(), Request{Table: "t", Rho: "0.5", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := result.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		after, _ := used(t)
		off[method] = variation(real, coded(t, b.String())[:8], sizes[:8], 2)
		t.Logf("%s: %d rows, %d rounds; %.0f s, and %.0f s of processors with the rows written; pairs of 8 columns are off by %.4f",
			method, result.Rows, result.Rounds, result.Seconds, after-before, off[method])
	}
	if off[AIM] > 0.5*off[Independent] {
		t.Errorf("pairs are off by %.4f, and those of independent columns by %.4f", off[AIM], off[Independent])
	}
}
