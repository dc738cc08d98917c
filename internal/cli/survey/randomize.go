package survey

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/parallel"
	"dither/local"
)

// randomize writes a report about each value of a column.
func randomize(s *console.Console, o *options) error {
	if o.tables != "" && o.column == nil {
		return console.Usage("--tables is about several columns: --column NAME=FILE for each")
	}
	switch {
	case o.column != nil:
		return randomizeColumns(s, o)
	case o.mechanism == prefix:
		return randomizePrefixes(s, o)
	case o.mechanism == tree:
		return randomizeTree(s, o)
	case o.ofNumbers():
		return randomizeNumbers(s, o)
	}
	if o.mechanism != "best" {
		if err := known(o.mechanism); err != nil {
			return err
		}
	}
	d, err := domainOf(o.domain)
	if err != nil {
		return err
	}
	var values []uint64
	err = eachLine(o.in, s.Stdin, func(number int, line string) error {
		v, err := d.value(line)
		if err != nil {
			return console.Usage(
				"%s: line %d: %s",
				inputName(o.in),
				number,
				strings.TrimPrefix(err.Error(), "usage: "),
			)
		}
		values = append(values, v)
		return nil
	})
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return console.Usage("%s has no values", inputName(o.in))
	}
	oracle, err := o.oracleOf(s, o.mechanism, d.k, int64(len(values)))
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return writeReports(w, oracle, d, values) }
	if o.devices != "" {
		reports, err := o.repeated(s, oracle, values)
		if err != nil {
			return err
		}
		write = func(w io.Writer) error { return writeAll(w, oracle, d, reports) }
	}
	p := oracle.Params()
	e := json.RawMessage(render.JSONRat(p.Epsilon.Rat()))
	return writeOut(s, o, write, randomizedJSON{p.Mechanism, e, len(values), oracle.Bits()})
}

// writeOut writes reports to --out, and says what it wrote.
func writeOut(s *console.Console, o *options, write func(io.Writer) error, about randomizedJSON) error {
	if o.out == "-" {
		if s.Format == "json" {
			return console.Usage("--format json needs --out FILE, because the reports go to standard output")
		}
		return write(s.Stdout)
	}
	if err := console.ReplaceFile(o.out, write); err != nil {
		return err
	}
	if s.Format == "json" {
		return s.JSON(about)
	}
	s.Print("%s by %s, %s each, in %s\n", render.Plural(about.Reports, "report"), about.Mechanism,
		render.Plural(about.Bits, "bit"), o.out)
	return nil
}

type randomizedJSON struct {
	Mechanism string          `json:"mechanism"`
	Epsilon   json.RawMessage `json:"epsilon"`
	Reports   int             `json:"reports"`
	Bits      int             `json:"bits"`
}

// batch is the number of reports that are made at a time.
const batch = 1 << 12

// writeReports writes a file of reports, which are made on all processors.
func writeReports(w io.Writer, oracle *local.Oracle, d domain, values []uint64) error {
	out, err := local.NewWriter(w, local.Header{Params: oracle.Params(), Domain: d.digest})
	if err != nil {
		return err
	}
	const batches = 8
	for len(values) > 0 {
		now := values[:min(batch*batches, len(values))]
		values = values[len(now):]
		var reports [batches][][]byte
		var errs [batches]error
		parallel.Each((len(now)+batch-1)/batch, func(i int) {
			reports[i], errs[i] = oracle.RandomizeAll(now[i*batch : min((i+1)*batch, len(now))])
		})
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		for _, part := range reports {
			for _, r := range part {
				if err := out.Write(r); err != nil {
					return err
				}
			}
		}
	}
	return out.Flush()
}

// writeAll writes a file of reports that were drawn before.
func writeAll(w io.Writer, oracle *local.Oracle, d domain, reports [][]byte) error {
	out, err := local.NewWriter(w, local.Header{Params: oracle.Params(), Domain: d.digest})
	if err != nil {
		return err
	}
	for _, r := range reports {
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return out.Flush()
}
