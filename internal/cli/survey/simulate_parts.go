package survey

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/splitmix"
	"dither/local"
)

// simulateTree compares the stated errors of shares below the edges of bins with those of made-up numbers. The people of
// each survey are a new sample of a population, because the stated errors include this sampling.
func simulateTree(s *console.Console, o *options, n, runs int64, confidence float64) error {
	if o.k != "" {
		return console.Usage("tree has --bins instead of --k")
	}
	e, err := o.epsilonOf(tree)
	if err != nil {
		return err
	}
	bins, err := console.WholeFlag("bins", o.bins, 2, 1<<12)
	if err != nil {
		return err
	}
	q, err := local.NewQuantiles(e, 0, 1, uint64(bins), n)
	if err != nil {
		return err
	}
	k, _ := q.Bins()
	const population = 1 << 20
	counts, err := madeUp(o.shape, int(k), population)
	if err != nil {
		return err
	}
	var numbers []float64 // of the population: the middles of the bins
	shares := make([]float64, k+1)
	for bin, count := range counts {
		shares[bin+1] = shares[bin] + float64(count)/population
		for range count {
			numbers = append(numbers, (float64(bin)+.5)/float64(k))
		}
	}
	r := simulated{mechanism: tree, bits: q.Bits()}
	var means []float64
	stream := splitmix.At(splitmix.Mix(1))
	edges := float64(k - 1)
	for range runs {
		if err := s.Context().Err(); err != nil {
			return err
		}
		tally := q.NewTally()
		for range n {
			report, err := q.Randomize(numbers[stream.Below(population)])
			if err == nil {
				err = tally.Add(report)
			}
			if err != nil {
				return err
			}
		}
		below, err := q.Below(tally, confidence)
		if err != nil {
			return err
		}
		mean := 0.0
		for at := 1; at < len(below)-1; at++ { // the shares below the first and the last edge are known
			f, truth := below[at], shares[at]
			mean += (f.Frequency - truth) * (f.Frequency - truth) / edges
			r.stated += f.Stddev * f.Stddev / edges / float64(runs)
			if f.Low <= truth && truth <= f.High {
				r.covered += 1 / edges / float64(runs)
			}
		}
		means = append(means, mean)
	}
	r.summarise(means)
	return showSimulated(s, []simulated{r}, runs, o)
}

// mostMadeUp is the number of different values of a simulated search.
const mostMadeUp = 1000

// searched is what simulated searches made of a frequent value.
type searched struct {
	people, stddev float64
	found          int     // the number of surveys that found it
	sum            float64 // of their estimates
}

// simulatePrefixes counts how often a search finds the most frequent of made-up values.
func simulatePrefixes(s *console.Console, o *options, n, runs int64, confidence float64) error {
	k, err := o.valuesOf()
	if err != nil {
		return err
	}
	e, err := o.epsilonOf(prefix)
	if err != nil {
		return err
	}
	top, err := console.WholeFlag("top", o.top, 1, 100)
	if err != nil {
		return err
	}
	h, err := local.NewHeavy(local.HeavyParams{Epsilon: e, Bits: max(bits.Len64(k-1), 2)})
	if err != nil {
		return err
	}
	if float64(n)*float64(runs)*float64(top) > 1e9 {
		return console.Usage("simulate takes at most 10^9 reports, divided by --top")
	}
	people, err := madeUp(o.shape, int(min(k, mostMadeUp)), int(n))
	if err != nil {
		return err
	}
	size := h.Params().Bits
	// scattered over the domain: an odd factor permutes the numbers of this size
	value := func(rank int) uint64 { return (uint64(rank) * splitmix.Step) & (1<<size - 1) }
	ranks := map[uint64]int{}
	out := make([]searched, min(int(top), len(people)))
	for i := range out {
		ranks[value(i)] = i
		f := float64(people[i]) / float64(n)
		out[i].people, out[i].stddev = float64(people[i]), float64(n)*math.Sqrt(h.Variance(n, f))
	}
	for range runs {
		if err := s.Context().Err(); err != nil {
			return err
		}
		tally := h.NewTally()
		for rank, count := range people {
			for range count {
				report, err := h.Randomize(value(rank))
				if err == nil {
					err = tally.Add(report)
				}
				if err != nil {
					return err
				}
			}
		}
		found, err := tally.Find(int(4*top), confidence)
		if err != nil {
			return err
		}
		for _, f := range found[:min(len(found), int(top))] {
			if rank, ok := ranks[f.Value]; ok {
				out[rank].found++
				out[rank].sum += f.Frequency * float64(n)
			}
		}
	}
	return showSearched(s, o, h, out, runs)
}

type searchedJSON struct {
	Rank     int              `json:"rank"`
	People   json.RawMessage  `json:"people"`
	Stddev   json.RawMessage  `json:"stddev"`
	Found    json.RawMessage  `json:"found"`
	Estimate *json.RawMessage `json:"estimate"`
}

func showSearched(s *console.Console, o *options, h *local.Heavy, out []searched, runs int64) error {
	header := []string{"rank", "people", "± stated", "found", "mean estimate"}
	records := [][]string{{"rank", "people", "stddev", "found", "estimate"}}
	var rows [][]string
	all := struct {
		Runs   int64          `json:"runs"`
		Bits   int            `json:"bits"`
		Groups int            `json:"groups"`
		Values []searchedJSON `json:"values"`
	}{Runs: runs, Bits: h.Bits(), Groups: h.Groups()}
	for i, r := range out {
		share, mean := float64(r.found)/float64(runs), r.sum/float64(r.found)
		row := []string{
			fmt.Sprint(i + 1), render.Fixed(r.people, 0), render.TwoDigits(2 * r.stddev), render.Fixed(100*share, 0) + " %", "–",
		}
		record := []string{fmt.Sprint(i + 1), render.CSVFloat(&r.people), render.CSVFloat(&r.stddev), render.CSVFloat(&share), ""}
		j := searchedJSON{i + 1, number(r.people), number(r.stddev), number(share), nil}
		if r.found > 0 {
			estimate := number(mean)
			row[4], record[4], j.Estimate = render.Fixed(mean, 0), render.CSVFloat(&mean), &estimate
		}
		rows, records, all.Values = append(rows, row), append(records, record), append(all.Values, j)
	}
	words := fmt.Sprintf("Found is the share of %d surveys whose %s largest estimates include the value. ± is two standard deviations of\n"+
		"a count that is estimated without a choice. The mean is over the surveys that found the value, so it is too large\n"+
		"for values that are rarely found. A report has at most %s, and people are in %s.",
		runs, o.top, render.Plural(h.Bits(), "bit"), render.Plural(h.Groups(), "group"))
	right := []bool{true, true, true, true, true}
	return answered{all, records, header, rows, right, words}.show(s)
}
