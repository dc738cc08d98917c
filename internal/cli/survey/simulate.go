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
	average              float64 // with --rounds: the mean variance of the average over all rounds
}

// simulate randomizes the values of made-up people, and sets the errors of the estimates beside the stated ones.
func simulate(s *console.Console, o *options) error {
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
	rounds, err := console.WholeFlag("rounds", o.rounds, 1, 1000)
	if err != nil {
		return err
	}
	if rounds > 1 && (o.mechanism == prefix || o.mechanism == tree) {
		return console.Usage("--rounds is for rappor, loloha and dbit: %s has no memory", o.mechanism)
	}
	if float64(n)*float64(runs)*float64(rounds) > 1e9 {
		return console.Usage("simulate takes at most 10^9 reports")
	}
	switch o.mechanism {
	case prefix:
		return simulatePrefixes(s, o, n, runs, confidence)
	case tree:
		return simulateTree(s, o, n, runs, confidence)
	}
	k, err := o.valuesOf()
	if err != nil {
		return err
	}
	if k > 1<<20 || n > 10_000_000 {
		return console.Usage("simulate takes at most 2^20 values and 10,000,000 people")
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
		r, err := simulateOne(s, oracle, people, int(runs), int(rounds), confidence)
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
	runs, rounds int,
	confidence float64,
) (r simulated, err error) {
	if _, _, err := oracle.States(); err != nil && rounds > 1 {
		return r, console.Usage("--rounds is for rappor, loloha and dbit: %s has no memory", oracle.Params().Mechanism)
	}
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
		mean, sum := 0.0, make([]float64, len(people))
		err = each(oracle, values, rounds, func(tally *local.Tally) error {
			estimates, err := tally.Estimate(confidence)
			for v, e := range estimates {
				truth := float64(people[v])
				mean += (e.Count - truth) * (e.Count - truth) / n / n / float64(len(people)) / float64(rounds)
				sum[v] += (e.Count - truth) / n / float64(rounds)
				if e.Low <= truth && truth <= e.High {
					covered++
				}
			}
			return err
		})
		if err != nil {
			return r, err
		}
		means = append(means, mean)
		for _, x := range sum {
			r.average += x * x / float64(len(people)) / float64(runs)
		}
	}
	r.summarise(means)
	r.covered = float64(covered) / float64(runs) / float64(rounds) / float64(len(people))
	return r, nil
}

// each calls f with the tally of each round. With several rounds, the devices keep their memories.
func each(oracle *local.Oracle, values []uint64, rounds int, f func(*local.Tally) error) error {
	var devices []*local.Device
	for range values {
		if rounds == 1 {
			break
		}
		d, err := oracle.NewDevice()
		if err != nil {
			return err
		}
		devices = append(devices, d)
	}
	for range rounds {
		tally := oracle.NewTally()
		for i, d := range devices {
			report, err := d.Report(values[i])
			if err == nil {
				err = tally.Add(report)
			}
			if err != nil {
				return err
			}
		}
		for part := values; devices == nil && len(part) > 0; part = part[min(batch, len(part)):] {
			reports, err := oracle.RandomizeAll(part[:min(batch, len(part))])
			if err != nil {
				return err
			}
			for _, report := range reports {
				if err := tally.Add(report); err != nil {
					return err
				}
			}
		}
		if err := f(tally); err != nil {
			return err
		}
	}
	return nil
}

// summarise sets the mean of the runs' mean squared errors, and its standard deviation.
func (r *simulated) summarise(means []float64) {
	runs := float64(len(means))
	for _, m := range means {
		r.found += m / runs
	}
	for _, m := range means {
		r.doubt += (m - r.found) * (m - r.found) / runs / (runs - 1)
	}
	r.doubt = math.Sqrt(r.doubt)
}

func showSimulated(s *console.Console, out []simulated, runs int64, o *options) error {
	header := []string{"mechanism", "bits", "stated variance", "simulated", "±", "coverage"}
	right := []bool{false, true, true, true, true, true}
	records := [][]string{
		{"mechanism", "bits", "stated_variance", "simulated_variance", "simulated_stddev", "coverage"},
	}
	repeated := o.rounds != "1"
	if repeated {
		header, right = append(header, "average of "+o.rounds+" rounds"), append(right, true)
		records[0] = append(records[0], "average_variance")
	}
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
		records = append(records, []string{
			r.mechanism,
			fmt.Sprint(r.bits),
			render.CSVFloat(&r.stated),
			render.CSVFloat(&r.found),
			render.CSVFloat(&r.doubt),
			render.CSVFloat(&r.covered),
		})
		if last := len(rows) - 1; repeated {
			rows[last] = append(rows[last], render.Number6(r.average))
			records[last+1] = append(records[last+1], render.CSVFloat(&r.average))
		}
	}
	of, over, interval := "an estimated frequency", "values", "count"
	if o.mechanism == tree {
		of, over, interval = "the estimated share below an edge", "edges", "share"
	}
	words := fmt.Sprintf("The variance of %s, as a mean over all %s and %d surveys. ± is the standard\n"+
		"deviation of the simulated mean. Coverage is the share of the %s intervals that contain the true %s.",
		of, over, runs, render.Percent(o.confidence), interval)
	if o.mechanism == tree {
		words += "\nThe stated variance is an upper bound: it leaves out that nodes of a level are correlated negatively."
	}
	if repeated {
		words += "\nEach device reports the same value in each round, from its memory. The average has the variance of the permanent\n" +
			"responses at least, however many rounds there are."
	}
	return answered{simulatedAll{out, runs, repeated}, records, header, rows, right, words}.show(s)
}

type simulatedAll struct {
	of       []simulated
	runs     int64
	repeated bool
}

type simulatedJSON struct {
	Mechanism string          `json:"mechanism"`
	Bits      int             `json:"bits"`
	Stated    json.RawMessage `json:"stated_variance"`
	Simulated json.RawMessage `json:"simulated_variance"`
	Stddev    json.RawMessage `json:"simulated_stddev"`
	Coverage  json.RawMessage `json:"coverage"`
	Average   json.RawMessage `json:"average_variance,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (a simulatedAll) MarshalJSON() ([]byte, error) {
	out := struct {
		Runs       int64           `json:"runs"`
		Mechanisms []simulatedJSON `json:"mechanisms"`
	}{Runs: a.runs}
	for _, r := range a.of {
		j := simulatedJSON{
			r.mechanism, r.bits, number(r.stated), number(r.found), number(r.doubt), number(r.covered), nil,
		}
		if a.repeated {
			j.Average = number(r.average)
		}
		out.Mechanisms = append(out.Mechanisms, j)
	}
	return json.Marshal(out)
}
