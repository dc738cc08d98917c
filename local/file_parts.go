package local

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"dither/local/internal/lines"
	"dither/privacy"
)

// Files of reports in several parts have a header as those of one oracle. Each other line is a report: the number of
// its group or marginal, and its parts in hexadecimal digits, with spaces between them.

// The names of the formats in the headers.
const (
	PrefixFormat   = "dither local prefixes"
	QuantileFormat = "dither local quantiles"
)

type prefixJSON struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Epsilon privacy.Epsilon `json:"epsilon"`
	Bits    int             `json:"bits"`
	Start   int             `json:"start"`
	Step    int             `json:"step"`
}

type quantileJSON struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Epsilon privacy.Epsilon `json:"epsilon"`
	Low     float64         `json:"low"`
	High    float64         `json:"high"`
	Bins    uint64          `json:"bins"`
	N       int64           `json:"n"` // the number of people that the tree was chosen for
	// Mechanisms are those of the levels, which a later version of this program might choose differently.
	Mechanisms []string `json:"mechanisms"`
}

// writeParts writes a header and reports.
func writeParts(w io.Writer, header any, reports int, of func(i int) (number int, parts [][]byte)) error {
	line, err := lines.Header(header)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "%s\n", line) // Flush returns the error
	for i := range reports {
		number, parts := of(i)
		_, _ = out.WriteString(strconv.Itoa(number))
		for _, p := range parts {
			_, _ = out.WriteString(" " + hex.EncodeToString(p))
		}
		_, _ = out.WriteString("\n")
	}
	return out.Flush()
}

// readParts reads the reports of a file. sizes are those of the parts in bytes, by their number.
func readParts(in *lines.Reader, sizes []int, add func(number int, parts [][]byte) error) error {
	most := 10
	for _, s := range sizes {
		most += 2*s + 1
	}
	for {
		line, err := in.Next(most)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fields := strings.Split(string(line), " ")
		number, err := strconv.Atoi(fields[0])
		if err != nil || strconv.Itoa(number) != fields[0] {
			return in.Wrong("does not begin with the number of a group")
		}
		var parts [][]byte
		for _, f := range fields[1:] {
			p, err := hex.DecodeString(f)
			if err != nil {
				return in.Wrong("is not in hexadecimal digits")
			}
			parts = append(parts, p)
		}
		if err := add(number, parts); err != nil {
			return fmt.Errorf("%w: %w", in.Wrong("is no report"), err)
		}
	}
}

func sizesOf(oracles []*Oracle) (sizes []int) {
	for _, o := range oracles {
		sizes = append(sizes, o.bytes())
	}
	return sizes
}

// Write writes a file of reports.
func (h *Heavy) Write(w io.Writer, reports []PrefixReport) error {
	p := h.params
	header := prefixJSON{PrefixFormat, lines.Version, p.Epsilon, p.Bits, p.Start, p.Step}
	return writeParts(w, header, len(reports), func(i int) (int, [][]byte) {
		return reports[i].Group, [][]byte{reports[i].Report}
	})
}

// ReadHeavy reads a file of reports about prefixes. An invalid line is ErrFile, with its number.
func ReadHeavy(r io.Reader) (*HeavyTally, error) {
	var j prefixJSON
	in, err := lines.Open(r, PrefixFormat, &j)
	if err != nil {
		return nil, err
	}
	h, err := NewHeavy(HeavyParams{Epsilon: j.Epsilon, Bits: j.Bits, Start: j.Start, Step: j.Step})
	if err != nil {
		return nil, fmt.Errorf("%w: line 1: %w", ErrFile, err)
	}
	t := h.NewTally()
	return t, readParts(in, sizesOf(h.groups), func(group int, parts [][]byte) error {
		if len(parts) != 1 {
			return fmt.Errorf("%w: a report has one part", ErrReport)
		}
		return t.Add(PrefixReport{group, parts[0]})
	})
}

// Write writes a file of reports.
func (q *Quantiles) Write(w io.Writer, reports []MarginalsReport) error {
	return writeParts(w, q.header(), len(reports), func(i int) (int, [][]byte) {
		return reports[i].Marginal, reports[i].Reports
	})
}

func (q *Quantiles) header() quantileJSON {
	return quantileJSON{
		QuantileFormat, lines.Version, q.levels.epsilon, q.low, q.high, q.bins, q.levels.n, q.levels.mechanisms(),
	}
}

// ReadQuantiles reads a file of reports about numbers. An invalid line is ErrFile, with its number.
func ReadQuantiles(r io.Reader) (*Quantiles, *MarginalsTally, error) {
	var j quantileJSON
	in, err := lines.Open(r, QuantileFormat, &j)
	if err != nil {
		return nil, nil, err
	}
	q, err := NewQuantiles(j.Epsilon, j.Low, j.High, j.Bins, j.N)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: line 1: %w", ErrFile, err)
	}
	if !slices.Equal(j.Mechanisms, q.levels.mechanisms()) {
		return nil, nil, fmt.Errorf("%w: line 1: this version of dither chooses other mechanisms for the tree", ErrFile)
	}
	t := q.NewTally()
	return q, t, readParts(in, sizesOf(q.levels.oracles), func(level int, parts [][]byte) error {
		return t.Add(MarginalsReport{level, parts})
	})
}
