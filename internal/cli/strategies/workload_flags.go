package strategies

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/privacy"
	"dither/strategy"
	"dither/strategy/product"
)

// price is the price of all measurements together.
type price struct {
	unit      strategy.Unit
	text      string        // such as "ρ = 1/2"
	deviation float64       // the standard deviation of one count's noise
	home      *curator.Loss // the same price in a home; nil without one
}

func (a asked) price() (price, error) {
	switch {
	case a.rho == "" && a.epsilon == "":
		return price{}, console.Usage("workload needs a price: --rho R for Gaussian noise, or --epsilon E for Laplace noise")
	case a.rho != "" && a.epsilon != "":
		return price{}, console.Usage("workload takes --rho or --epsilon, not both")
	case a.epsilon != "":
		e, err := console.EpsilonFlag(a.epsilon)
		if err != nil {
			return price{}, err
		}
		f, _ := e.Rat().Float64()
		return price{strategy.Epsilon, "ε = " + render.Given(e.Rat()), math.Sqrt2 / f, nil}, nil
	}
	r, err := console.NumberFlag("rho", a.rho)
	if err != nil {
		return price{}, err
	}
	if most := int64(privacy.MaxRho); r.Sign() <= 0 || r.Cmp(big.NewRat(most, 1)) > 0 {
		return price{}, console.Usage("--rho must be above 0 and at most %d", most)
	}
	f, _ := r.Float64()
	return price{strategy.Rho, "ρ = " + render.Given(r), 1 / math.Sqrt(2*f), nil}, nil
}

// decimal writes a fraction such as 1/2 as the decimal that prices in a home are. It leaves other texts to their parser.
func decimal(text string) string {
	above, below, _ := strings.Cut(text, "/")
	n, err := strconv.ParseInt(above, 10, 64)
	d, errBelow := strconv.ParseInt(below, 10, 64)
	if err != nil || errBelow != nil || d <= 0 {
		return text
	}
	r := big.NewRat(n, d)
	if digits, exact := r.FloatPrec(); exact {
		return r.FloatString(digits)
	}
	return text
}

// several reports whether the flags are about several columns.
func (a asked) several() (bool, error) {
	all, err := a.singles()
	if err != nil || len(a.crosses) > 0 {
		return true, err
	}
	for _, w := range all {
		if w.Cells() != all[0].Cells() {
			return true, nil
		}
	}
	return false, nil
}

// workload returns the union of the workloads of all flags.
func (a asked) workload() (strategy.Workload, error) {
	all, err := a.singles()
	if err != nil {
		return strategy.Workload{}, err
	}
	if len(all) == 0 {
		return strategy.Workload{}, console.Usage(
			"workload needs the questions: --prefixes N, --ranges N, --windows N:W, --levels FILE or --matrix FILE, " +
				"--cross KIND:N,…, --marginals NAME:SIZE,… with --ways K,…")
	}
	w, err := strategy.Union(all...)
	if err != nil {
		return w, console.Usage("%s", words(err))
	}
	return w, nil
}

// levelsAlone reports whether one --levels is all that is asked.
func (a asked) levelsAlone() bool {
	return len(a.levels) == 1 && len(a.prefixes)+len(a.ranges)+len(a.windows)+len(a.matrices)+len(a.crosses) == 0
}

// singles returns the workloads of the flags about one column each.
func (a asked) singles() ([]strategy.Workload, error) {
	var all []strategy.Workload
	for _, f := range []struct {
		name  string
		texts []string
		parse func(text string) (strategy.Workload, error)
	}{
		{"prefixes", a.prefixes, func(text string) (strategy.Workload, error) { return counted(text, strategy.Prefixes) }},
		{"ranges", a.ranges, func(text string) (strategy.Workload, error) { return counted(text, strategy.Ranges) }},
		{"windows", a.windows, windows},
		{"levels", a.levels, func(text string) (strategy.Workload, error) { return levels(text, a.levelsAlone()) }},
		{"matrix", a.matrices, matrix},
	} {
		for _, text := range f.texts {
			w, err := f.parse(text)
			if err != nil {
				return nil, console.Usage("--%s %s: %s", f.name, text, words(err))
			}
			all = append(all, w)
		}
	}
	return all, nil
}

// words returns the text of an error of package strategy without its prefix, which is meant for programs.
func words(err error) string {
	text := err.Error()
	for _, e := range []error{product.ErrWorkload, strategy.ErrWorkload, strategy.ErrStrategy} {
		text = strings.TrimPrefix(text, e.Error()+": ")
	}
	return text
}

var errCells = errors.New("the number of cells must be an integer, such as 365")

// whole parses an integer inside the value of a flag.
func whole(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, errCells
	}
	return int(n), nil
}

// counted parses N or N*WEIGHT.
func counted(text string, make func(int) (strategy.Workload, error)) (strategy.Workload, error) {
	text, weight, err := weighted(text)
	if err != nil {
		return strategy.Workload{}, err
	}
	n, err := whole(text)
	if err != nil {
		return strategy.Workload{}, err
	}
	w, err := make(n)
	if err != nil {
		return w, err
	}
	return w.Weighted(weight)
}

// weighted splits off a weight, which is 1 if there is none.
func weighted(text string) (rest string, weight float64, err error) {
	rest, factor, found := strings.Cut(text, "*")
	if !found {
		return rest, 1, nil
	}
	weight, err = strconv.ParseFloat(factor, 64)
	if err != nil || !(weight > 0) {
		return "", 0, errors.New("the weight after * must be a number above 0")
	}
	return rest, weight, nil
}

// windows parses N:W or N:W*WEIGHT.
func windows(text string) (strategy.Workload, error) {
	cells, width, found := strings.Cut(text, ":")
	if !found {
		return strategy.Workload{}, errors.New("give the number of cells and the width, such as 365:7")
	}
	return counted(width, func(w int) (strategy.Workload, error) {
		n, err := whole(cells)
		if err != nil {
			return strategy.Workload{}, err
		}
		return strategy.Windows(n, w)
	})
}

// matrix reads a matrix from a file of CSV without a header.
func matrix(name string) (strategy.Workload, error) {
	f, err := os.Open(name)
	if err != nil {
		return strategy.Workload{}, err
	}
	defer f.Close() //nolint:errcheck // the file is only read
	return matrixOf(f)
}

// matrixOf reads a matrix from CSV without a header.
func matrixOf(in io.Reader) (strategy.Workload, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	var rows [][]float64
	entries := 0
	for {
		record, err := r.Read()
		if err != nil {
			if len(record) == 0 && errors.Is(err, io.EOF) {
				return strategy.Explicit(rows)
			}
			return strategy.Workload{}, err
		}
		row := make([]float64, len(record))
		for j, text := range record {
			if row[j], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
				line, _ := r.FieldPos(j)
				return strategy.Workload{}, fmt.Errorf("line %d: %q is not a number", line, text)
			}
		}
		rows = append(rows, row)
		if entries += len(row); entries > strategy.MaxEntries {
			return strategy.Workload{}, fmt.Errorf("a matrix may have %d entries", strategy.MaxEntries)
		}
	}
}
