package strategies

import (
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy/tabulate"
	"dither/synth"
)

// wantedOf reads the questions of a file: SQL, or a specification of tabulate.
func wantedOf(file string) (out []synth.Wanted, err error) {
	if file == "" {
		return nil, nil
	}
	if end := strings.ToLower(filepath.Ext(file)); end == ".yaml" || end == ".yml" {
		spec, err := tabulate.Load(file)
		if err != nil {
			return nil, badSpec(file, err)
		}
		return wantedTables(spec)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, console.Usage("--workload: %v", err)
	}
	defer f.Close() //nolint:errcheck // the file is only read
	text, err := io.ReadAll(io.LimitReader(f, maxSQL+1))
	if err != nil {
		return nil, console.Usage("--workload: %v", err)
	}
	if len(text) > maxSQL {
		return nil, console.Usage("--workload %s: the file has more than %d bytes", file, maxSQL)
	}
	questions, err := curator.Statements(string(text))
	if err != nil {
		return nil, err
	}
	if len(questions) == 0 {
		return nil, console.Usage("--workload %s has no question", file)
	}
	for _, q := range questions {
		out = append(out, synth.Wanted{SQL: q})
	}
	return out, nil
}

// wantedTables returns the questions of a specification: one for each table, at the finest level of its rows.
func wantedTables(spec *tabulate.Spec) (out []synth.Wanted, err error) {
	for _, t := range spec.Tables {
		var keys []string
		add := func(name string) {
			for _, h := range spec.Hierarchies {
				for _, level := range append([]string{h.Total}, h.Levels...) {
					if level != "" && level == name {
						name = h.Key
					}
				}
			}
			for _, k := range keys {
				if k == name {
					return
				}
			}
			keys = append(keys, name)
		}
		for _, name := range append(append([]string{}, t.Rows...), t.Columns...) {
			add(name)
		}
		measure := "COUNT(*)"
		if t.Sum != "" {
			measure = "SUM(" + t.Sum + ")"
		}
		sql := "SELECT " + measure + " FROM " + t.From
		if t.Where != "" {
			sql += " WHERE " + t.Where
		}
		if len(keys) > 0 {
			sql += " GROUP BY " + strings.Join(keys, ", ")
		}
		weight := int64(1)
		if t.Weight != nil {
			x, _ := new(big.Float).SetRat(t.Weight).Float64()
			weight = int64(math.Round(min(max(x, 1), synth.MaxWeight)))
		}
		out = append(out, synth.Wanted{SQL: sql, Weight: weight})
	}
	return out, nil
}

// showDirect compares a plan with measuring the questions themselves.
func showDirect(s *console.Console, d *synth.Direct) {
	const known = "if the questions are known beforehand, `dither tabulate` or `dither workload` answers them with less noise\n"
	if d == nil {
		s.Print(known)
		return
	}
	answers := render.Plural(d.Answers, "answer")
	switch {
	case d.Reason != "":
		s.Print("there is no comparison with measuring the questions themselves: %s\n", render.Printable(d.Reason))
		s.Print("expected error of %s from synthetic rows, as counts: %s or more\n", answers, render.TwoDigits(d.Synthetic))
	case d.Better():
		s.Print("measuring the questions is better: `dither query -f FILE --together` or `dither tabulate` has an expected error of %s in "+
			"%s at this price, and synthetic rows have %s or more, and no intervals\n", render.TwoDigits(d.Measured), answers,
			render.TwoDigits(d.Synthetic))
	default:
		s.Print("expected error of %s: %s or more from synthetic rows, and %s if the questions are measured themselves\n", answers,
			render.TwoDigits(d.Synthetic), render.TwoDigits(d.Measured))
	}
	s.Print("these are root mean squares of the noise alone; rows are also off where no marginal was measured\n")
}
