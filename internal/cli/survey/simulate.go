package survey

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
)

// simulated is the outcome of simulated surveys by one mechanism.
type simulated struct {
	mechanism            string
	bits                 int
	stated, found, doubt float64 // mean variances of a frequency over all values, and the standard deviation of found
	covered              float64 // the share of intervals that cover the true count
}

// simulate randomizes the values of made-up people, and sets the errors of the estimates beside the stated ones.
func simulate(s *console.Console, o *options) error {
	k, err := o.valuesOf()
	if err != nil {
		return err
	}
	n, err := peopleOf(o.n)
	if err != nil {
		return err
	}
	runs, err := console.WholeFlag("runs", o.runs, 2, 100_000)
	if err != nil {
		return err
	}
	confidence, err := confidenceOf(o.confidence)
	if err != nil {
		return err
	}
	if k > 1<<20 || n > 10_000_000 || float64(n)*float64(runs) > 1e9 {
		return console.Usage("simulate takes at most 2^20 values, 10,000,000 people and 10^9 reports")
	}
	people, err := madeUp(o.shape, int(k), int(n))
	if err != nil {
		return err
	}
	var out []simulated
	for _, name := range strings.Split(o.mechanism, ",") {
		if name != "best" {
			if err := known(name); err != nil {
				return err
			}
		}
		oracle, err := o.oracleOf(s, name, k, n)
		if err != nil {
			return err
		}
		r, err := simulateOne(s, oracle, people, int(runs), confidence)
		if err != nil {
			return err
		}
		out = append(out, r)
	}
	return showSimulated(s, out, runs, o)
}

// madeUp returns the number of people with each value.
func madeUp(shape string, k, n int) ([]int, error) {
	weight := func(int) float64 { return 1 }
	switch shape {
	case "zipf":
		weight = func(i int) float64 { return 1 / float64(i+1) }
	case "uniform":
	case "one":
		weight = func(i int) float64 { return float64(max(0, 1-i)) }
	default:
		return nil, console.Usage("--shape must be zipf, uniform or one, not %q", shape)
	}
	total, sum, counted := 0.0, 0.0, 0
	for i := range k {
		total += weight(i)
	}
	people := make([]int, k)
	for i := range k {
		sum += weight(i)
		upTo := min(n, int(math.Round(float64(n)*sum/total)))
		people[i], counted = upTo-counted, upTo
	}
	return people, nil
}

func simulateOne(
	s *console.Console,
	oracle *local.Oracle,
	people []int,
	runs int,
	confidence float64,
) (r simulated, err error) {
	var values []uint64
	for v, count := range people {
		for range count {
			values = append(values, uint64(v))
		}
	}
	p, n := oracle.Params(), float64(len(values))
	r.mechanism, r.bits = p.Mechanism, oracle.Bits()
	rest := 0.0 // Σf²
	for _, c := range people {
		rest += float64(c) * float64(c) / n / n
	}
	for _, c := range people {
		f := float64(c) / n
		// the stated variance, with the true Σf² of the other values in place of its bound
		r.stated += (oracle.Variance(int64(n), f) + oracle.SharedVariance()*(rest-f*f-(1-f)*(1-f))) / float64(
			len(people),
		)
	}
	var means []float64
	covered := 0
	for run := range runs {
		if err := s.Context().Err(); err != nil {
			return r, err
		}
		p.Seed = uint64(run) // the error of shared hash functions is over their draw
		oracle, err := local.New(p)
		if err != nil {
			return r, err
		}
		tally := oracle.NewTally()
		for part := values; len(part) > 0; part = part[min(batch, len(part)):] {
			reports, err := oracle.RandomizeAll(part[:min(batch, len(part))])
			if err != nil {
				return r, err
			}
			for _, report := range reports {
				if err := tally.Add(report); err != nil {
					return r, err
				}
			}
		}
		estimates, err := tally.Estimate(confidence)
		if err != nil {
			return r, err
		}
		mean := 0.0
		for v, e := range estimates {
			truth := float64(people[v])
			mean += (e.Count - truth) * (e.Count - truth) / n / n / float64(len(people))
			if e.Low <= truth && truth <= e.High {
				covered++
			}
		}
		means = append(means, mean)
	}
	for _, m := range means {
		r.found += m / float64(runs)
	}
	for _, m := range means {
		r.doubt += (m - r.found) * (m - r.found) / float64(runs) / float64(runs-1)
	}
	r.doubt, r.covered = math.Sqrt(r.doubt), float64(covered)/float64(runs)/float64(len(people))
	return r, nil
}

func showSimulated(s *console.Console, out []simulated, runs int64, o *options) error {
	header := []string{"mechanism", "bits", "stated variance", "simulated", "±", "coverage"}
	var rows [][]string
	for _, r := range out {
		rows = append(rows, []string{
			r.mechanism,
			fmt.Sprint(r.bits),
			render.Number6(r.stated),
			render.Number6(r.found),
			render.TwoDigits(r.doubt),
			render.Fixed(100*r.covered, 2) + " %",
		})
	}
	right := []bool{false, true, true, true, true, true}
	words := fmt.Sprintf(
		"The variance of an estimated frequency, as a mean over all values and %d surveys. ± is the standard\n"+
			"deviation of the simulated mean. Coverage is the share of the %s intervals that contain the true count.",
		runs,
		render.Percent(o.confidence),
	)
	switch s.Format {
	case "json":
		return s.JSON(simulatedAll{out, runs})
	case "csv":
		records := [][]string{
			{"mechanism", "bits", "stated_variance", "simulated_variance", "simulated_stddev", "coverage"},
		}
		for _, r := range out {
			records = append(records, []string{
				r.mechanism,
				fmt.Sprint(r.bits),
				render.CSVFloat(&r.stated),
				render.CSVFloat(&r.found),
				render.CSVFloat(&r.doubt),
				render.CSVFloat(&r.covered),
			})
		}
		return s.CSV(records)
	case "markdown":
		s.Print("%s\n%s\n", render.MarkdownTable(header, right, rows), render.MarkdownParagraphs(words))
	default:
		s.Print("%s\n%s\n", grid(header, rows, right...), words)
	}
	return nil
}

type simulatedAll struct {
	of   []simulated
	runs int64
}

type simulatedJSON struct {
	Mechanism string          `json:"mechanism"`
	Bits      int             `json:"bits"`
	Stated    json.RawMessage `json:"stated_variance"`
	Simulated json.RawMessage `json:"simulated_variance"`
	Stddev    json.RawMessage `json:"simulated_stddev"`
	Coverage  json.RawMessage `json:"coverage"`
}

// MarshalJSON implements json.Marshaler.
func (a simulatedAll) MarshalJSON() ([]byte, error) {
	out := struct {
		Runs       int64           `json:"runs"`
		Mechanisms []simulatedJSON `json:"mechanisms"`
	}{Runs: a.runs}
	for _, r := range a.of {
		out.Mechanisms = append(out.Mechanisms, simulatedJSON{
			r.mechanism, r.bits, number(r.stated), number(r.found), number(r.doubt), number(r.covered),
		})
	}
	return json.Marshal(out)
}
