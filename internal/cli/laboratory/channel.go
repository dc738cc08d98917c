package laboratory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"

	"dither/audit/channel"
	"dither/examples/heights"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/nearest"
	"dither/internal/plot"
)

type channelFlags struct {
	adjacent, prior, example, write, delta, plot, delimiter string
	epsilons                                                []string
	normalize, curve                                        bool
}

func (f *channelFlags) declare(s *console.Console) {
	s.FormatFlag("table", "json")
	s.Flag(&f.adjacent, "adjacent", "FILE",
		"a CSV file of the pairs of neighbouring inputs, by name (default: all pairs)")
	s.Flag(&f.prior, "prior", "LIST", "the probability of each input, such as 0.9,0.1 (default: uniform)")
	s.Flag(&f.normalize, "normalize", "", "divide each row by its sum")
	s.Flag(&f.example, "example", "NAME",
		"a mechanism that reports a person's height: truth, constant, threshold or blurred")
	s.Flag(&f.write, "write", "FILE",
		"with --example: write its matrix to FILE, or - for standard output, and do nothing else")
	s.Flag(func(text string) error {
		f.epsilons = append(f.epsilons, strings.Split(text, ",")...)
		return nil
	}, "epsilon", "E", "report the δ at this ε, such as 0.5 or \"ln 3\"; may be a list with commas")
	s.Flag(&f.delta, "delta", "D", "report the least ε at this δ")
	s.Flag(&f.delimiter, "delimiter", "C",
		"the delimiter between the fields of the matrix's file: ';', '|', tab, … (default ',')")
	s.Flag(&f.curve, "curve", "", "draw δ against ε in the terminal")
	s.Flag(&f.plot, "plot", "FILE", "draw δ against ε as FILE.svg or FILE.png")
}

// Channel is the command `dither channel`.
var Channel = console.Verb{
	Name:  "channel",
	Args:  "MATRIX.csv | - | --example NAME",
	About: "compute the exact ε of a mechanism with finitely many outputs, from its probabilities",
	Run:   runChannel,
	More:  func(*console.Console) string { return channelHelp() },
}

// runChannel prints the privacy loss of a mechanism that is given as a matrix of probabilities. It reads no home.
func runChannel(s *console.Console, args []string) error {
	var f channelFlags
	f.declare(s)
	files, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case f.curve && s.Format != "table":
		return console.Usage("--curve needs --format table")
	case f.delimiter != "" && f.example != "":
		return console.Usage("--delimiter cannot be used with --example")
	case f.write != "" && f.example == "":
		return console.Usage("--write needs --example")
	case f.example == "" && len(files) != 1, f.example != "" && len(files) != 0:
		return console.Usage("channel takes exactly one matrix: a file, - for standard input, or --example NAME")
	}
	if err := (&console.Picture{File: f.plot}).Check(s); err != nil {
		return err
	}
	if f.write != "" {
		return writeExample(s, f.example, f.write)
	}
	r, err := judge(s, f, files)
	if err != nil {
		return console.Usage("%s", channelWords(err))
	}
	var bars, picture []plot.Point // compute the curves before printing anything, because this may fail
	if f.curve {
		bars, err = r.channelCurve(0)
	}
	if err == nil && f.plot != "" {
		picture, err = r.channelCurve(channelPoints)
	}
	if err != nil {
		return console.Usage("the curve cannot be drawn: %s", channelWords(err))
	}
	if s.Format == "json" {
		err = s.JSON(r)
	} else {
		printChannel(s, r, f)
	}
	if f.curve {
		printChannelCurve(s, bars)
	}
	if err == nil && f.plot != "" {
		err = drawChannelCurve(r, picture, f.plot)
	}
	return err
}

// channelWords returns an error's text without its prefixes, which are meant for programs.
func channelWords(err error) string {
	text := err.Error()
	for _, of := range []error{console.ErrUsage, channel.ErrMatrix, channel.ErrExponent, channel.ErrWork} {
		text = strings.TrimPrefix(text, of.Error()+": ")
	}
	return text
}

// judged is a mechanism that is given as a matrix, with its exact privacy results.
type judged struct {
	m         *channel.Matrix
	adjacency channel.Adjacency
	prior     []string

	loss    channel.Loss
	limit   channel.Excess // the δ that remains at every ε
	excess  []channel.Excess
	at      []channel.Exponent // the ε of each entry of excess
	delta   *big.Rat           // requested δ; nil if none
	relaxed channel.Relaxed    // least ε at the requested δ
	leakage channel.Leakage
}

func judge(s *console.Console, f channelFlags, files []string) (r judged, err error) {
	for _, text := range f.epsilons {
		e, err := channel.ParseExponent(strings.TrimSpace(text))
		if err != nil {
			return r, fmt.Errorf("--epsilon: %w", err)
		}
		r.at = append(r.at, e)
	}
	if f.delta != "" {
		d, err := console.DeltaFlag(f.delta)
		if err != nil {
			return r, err
		}
		r.delta = d.Rat()
	}
	if r.m, err = readMatrix(s, f, files); err != nil {
		return r, err
	}
	if f.adjacent != "" {
		if r.adjacency, err = pairsOf(f.adjacent, r.m); err != nil {
			return r, err
		}
	}
	if f.prior != "" {
		for _, p := range strings.Split(f.prior, ",") {
			r.prior = append(r.prior, strings.TrimSpace(p))
		}
	}
	if r.loss, err = r.m.Epsilon(r.adjacency); err != nil {
		return r, err
	}
	if !r.loss.Private() {
		if r.limit, err = r.m.Limit(r.adjacency); err != nil {
			return r, err
		}
	}
	for _, e := range r.at {
		x, err := r.m.Delta(r.adjacency, e)
		if err != nil {
			return r, err
		}
		r.excess = append(r.excess, x)
	}
	if r.delta != nil {
		if r.relaxed, err = r.m.Least(r.adjacency, r.delta); err != nil {
			return r, err
		}
	}
	r.leakage, err = r.m.Leakage(r.prior)
	return r, err
}

// readMatrix reads the matrix from a file, from standard input, or from an example.
func readMatrix(s *console.Console, f channelFlags, files []string) (*channel.Matrix, error) {
	o := channel.Options{Normalize: f.normalize}
	if f.delimiter != "" {
		c := []rune(f.delimiter)
		if f.delimiter == "tab" {
			c = []rune{'\t'}
		}
		if len(c) != 1 {
			return nil, fmt.Errorf("--delimiter: %q is not a delimiter: give one of , ; | : or tab", f.delimiter)
		}
		o.Delimiter = c[0]
	}
	switch {
	case f.example != "":
		text, err := example(f.example)
		if err != nil {
			return nil, err
		}
		return channel.Read(bytes.NewReader(text), o)
	case files[0] == "-":
		return channel.Read(s.Stdin, o)
	}
	in, err := os.Open(files[0])
	if err != nil {
		return nil, err
	}
	m, err := channel.Read(in, o)
	if err != nil {
		err = fmt.Errorf("%s: %s", files[0], channelWords(err))
	}
	return m, errors.Join(err, in.Close())
}

func pairsOf(file string, m *channel.Matrix) (channel.Adjacency, error) {
	in, err := os.Open(file)
	if err != nil {
		return channel.Adjacency{}, err
	}
	a, err := channel.ReadPairs(in, m)
	if err != nil {
		err = fmt.Errorf("%s: %s", file, channelWords(err))
	}
	return a, errors.Join(err, in.Close())
}

func example(name string) ([]byte, error) {
	text, err := heights.CSV(name)
	if err == nil {
		return text, nil
	}
	var names []string
	for _, e := range heights.Examples() {
		names = append(names, e.Name)
	}
	if hint := console.DidYouMean(nearest.Name(name, names)); hint != "" {
		return nil, console.Usage("there is no example %q%s", name, hint)
	}
	return nil, console.Usage("there is no example %q; there are %s", name, strings.Join(names, ", "))
}

// writeExample writes an example's matrix to a file, or to standard output.
func writeExample(s *console.Console, name, file string) error {
	text, err := example(name)
	if err != nil {
		return err
	}
	if file == "-" {
		s.Print("%s", text)
		return nil
	}
	if err := console.ReplaceFile(file, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return fmt.Errorf("the example could not be written: %w", err)
	}
	return nil
}

// channelHelp describes the format of a matrix, and lists the examples.
func channelHelp() string {
	var g render.Grid
	for _, e := range heights.Examples() {
		g.Add("  "+e.Name, e.About, e.Cost)
	}
	return `
MATRIX.csv has a line for each input, with the probability of each output, such as 0.25, 1/3 or exp(1)/(3 + exp(1)).
The numbers are read exactly. A header with the names of the outputs begins with the field "input". Each line then
begins with the name of its input:

  input,yes,no
  yes,3/4,1/4
  no,1/4,3/4

The examples, on heights from 50 to 250 cm:

` + g.Text("   ") + `
  dither channel --example blurred --epsilon 0.5
`
}
