package statstest

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"dither/curator"
)

// Example makes a home with these files, one of which is policy.yaml, and seals the table. It returns a session,
// and a function done that removes the home.
func Example(files fs.FS, table string) (c *curator.Session, done func()) {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "dither-example-")
	must(err)
	home := filepath.Join(dir, "home")
	must(curator.Init(home))
	must(os.CopyFS(home, files))
	owner, err := curator.Open(home)
	must(err)
	_, err = owner.Seal(context.Background(), table, curator.SealOptions{StateHome: dir})
	must(err)
	return owner.Session(), func() {
		must(owner.Close())
		must(os.RemoveAll(dir))
	}
}

// MadeUp returns the files of a home: policy.yaml, and the file source with the given rows.
func MadeUp(policy, source, rows string) fs.FS {
	return fstest.MapFS{"policy.yaml": {Data: []byte(policy)}, source: {Data: []byte(rows)}}
}

// Trial makes a home with a table of 20,000 made-up people. Half of them got doses near 2, the others near 8. The
// probability of recovery rises with the dose and is one half at dose 5.
func Trial() (c *curator.Session, done func()) {
	var rows strings.Builder
	rows.WriteString("dose,days,recovered\n")
	for i := range 20_000 {
		dose := []float64{2, 8}[i%2] + float64(i*37%200-100)/100
		recovered := float64(i*7919%1000)/1000 < 1/(1+math.Exp(5-dose))
		fmt.Fprintf(&rows, "%.2f,%.1f,%t\n", dose, 30-2*dose+float64(i*53%30-15)/10, recovered)
	}
	return Example(MadeUp(`
version: 1
population: {name: trial}
budget: {epsilon: 40, delta: 1e-4, selection_delta: 8e-5}
price: {maximum: 4}
tables:
  trial:
    source: {csv: trial.csv}
    unit: row
    expected_rows: 20000
    columns:
      dose: {type: real, bounds: [0, 10]}
      days: {type: real, bounds: [0, 40]}
      recovered: {type: boolean}
`, "trial.csv", rows.String()), "trial")
}
