package survey

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
	"dither/privacy"
)

// stratum is a group of people whose reports have one mechanism and one ε.
type stratum struct {
	tally  *local.Tally
	header local.Header
}

// add adds a stratum. Reports of equal parameters are one stratum.
func (e *estimated) add(s stratum) error {
	for _, other := range e.strata {
		if other.tally.Merge(s.tally) == nil {
			return nil
		}
	}
	e.strata = append(e.strata, s)
	return nil
}

func (e *estimated) tallies() (out []*local.Tally) {
	for _, s := range e.strata {
		out = append(out, s.tally)
	}
	return out
}

// further reads the files of --with.
func (o *options) further(read func(file *os.File, name string) error) error {
	if o.assigned && o.with == nil {
		return console.Usage("--assigned is for several files of reports: give the others with --with")
	}
	if o.with != nil && (o.mechanism != "" || o.epsilon != "") {
		return console.Usage("--mechanism and --epsilon are for one file of reports, without --with")
	}
	for _, name := range o.with {
		file, err := os.Open(name)
		if err != nil {
			return console.Usage("%v", err)
		}
		err = read(file, name)
		_ = file.Close() // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

// combined estimates from all strata. It adds up their counts, which is right whatever made people choose their ε. If
// they were assigned to the strata, it pools frequencies instead, which has a smaller error.
func (e *estimated) combined(confidence float64) ([]local.Estimate, error) {
	if len(e.strata) == 1 {
		t := e.strata[0].tally
		out, err := t.Estimate(confidence)
		if err != nil || !e.consistent {
			return out, err
		}
		return t.Consistent(out)
	}
	if e.consistent {
		return nil, console.Usage("--consistent is for reports of one mechanism and one ε")
	}
	if !e.assigned {
		return local.Sum(confidence, e.tallies())
	}
	pooled, err := local.Pool(confidence, e.tallies())
	if err != nil {
		return nil, err
	}
	n := float64(e.reports())
	var out []local.Estimate
	for _, f := range pooled {
		out = append(out, local.Estimate{
			Value: f.Value, Count: n * f.Frequency, Stddev: n * f.Stddev, Low: n * f.Low, High: n * f.High,
		})
	}
	return out, nil
}

// sources names the reports and what they promise.
func (e *estimated) sources() string {
	var text strings.Builder
	for _, s := range e.strata {
		promise := "ε = " + s.header.Epsilon.String()
		if s.header.Mechanism == "coin" {
			promise = "ε = ln 3"
		}
		fmt.Fprintf(&text, "%s by %s; each is private by itself, with %s.\n", render.Plural(int(s.tally.Reports()), "report"),
			s.header.Mechanism, promise)
	}
	switch {
	case len(e.strata) == 1:
	case e.assigned:
		text.WriteString("The frequencies were pooled, with weights by the declared parameters alone. That is right if people were\n" +
			"assigned to the files independently of their values. The intervals include this assignment.\n")
	default:
		text.WriteString("The counts of the files were added up, which is right whatever made people choose their ε.\n")
	}
	return text.String()
}

// weight bounds the change of an estimate by one report.
func (e *estimated) weight() (most float64) {
	if e.assigned && len(e.strata) > 1 {
		if effect, err := local.PoolEffect(e.tallies()); err == nil { // they were pooled
			return effect * float64(e.reports())
		}
	}
	for _, s := range e.strata {
		if o, err := local.New(s.header.Params); err == nil { // the reports were read with it
			most = max(most, o.Weight())
		}
	}
	return most
}

// shuffled is the guarantee after a declared, separate shuffler.
type shuffled struct {
	batch   int64
	largest privacy.Epsilon // of a report
	epsilon privacy.Epsilon
	delta   privacy.Delta
}

// lnThree is ln 3 rounded up, the ε of coin.
const lnThree = "1.0986123"

// shuffle certifies the guarantee of --batch, or returns nil without it.
func (e *estimated) shuffle(o *options) (*shuffled, error) {
	if len(e.strata) > 1 {
		return nil, o.severalShuffled()
	}
	each := e.strata[0].header.Epsilon
	if e.strata[0].header.Mechanism == "coin" {
		var err error
		if each, err = privacy.ParseEpsilon(lnThree); err != nil {
			return nil, err
		}
	}
	return o.shuffle(e.reports(), each)
}

// severalShuffled refuses --batch for reports of several kinds. All people in a batch must use one randomizer: a report
// is hidden among those of its own kind alone, however many others there are.
func (o *options) severalShuffled() error {
	if o.batch == "" {
		return nil
	}
	return console.Usage("--batch is for reports of one mechanism and one ε: estimate from each file by itself")
}

// shuffle certifies the guarantee of --batch for a number of reports of one randomizer, or returns nil without it.
func (o *options) shuffle(reports int64, largest privacy.Epsilon) (*shuffled, error) {
	if o.batch == "" {
		return nil, nil
	}
	n, err := console.WholeFlag("batch", o.batch, 1, mostCertified)
	if err != nil {
		return nil, err
	}
	if n > reports {
		return nil, console.Usage("--batch %d is more than the %s", n, render.Plural(int(reports), "report"))
	}
	out := &shuffled{batch: n, largest: largest}
	if out.delta, err = console.DeltaFlag(o.delta); err != nil {
		return nil, err
	}
	if out.delta.IsZero() {
		return nil, console.Usage("--delta must be above 0: shuffled reports promise an ε with a δ only")
	}
	out.epsilon, err = local.Shuffler{LeastBatch: n, LargestEpsilon: largest}.Epsilon(out.delta)
	return out, err
}

func (s *shuffled) words() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("\nIf a separate shuffler removed identities, addresses, times and order, from batches with at least %s honest\n"+
		"reports, whoever sees only what left it learns at most ε = %s with δ = %s about one person's value\n"+
		"(certified, change-one, one report a person). The shuffler, or a collector who received the reports\n"+
		"from their senders, learns at most the ε of a report.", render.ShortInt(s.batch), render.Given(s.epsilon.Rat()), render.Given(s.delta.Rat()))
}

// MarshalJSON implements json.Marshaler.
func (s *shuffled) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Batch   int64           `json:"batch"`
		Largest json.RawMessage `json:"report_epsilon"`
		Epsilon json.RawMessage `json:"epsilon"`
		Delta   json.RawMessage `json:"delta"`
	}{
		s.batch, json.RawMessage(render.JSONRat(s.largest.Rat())), json.RawMessage(render.JSONRat(s.epsilon.Rat())),
		json.RawMessage(render.JSONRat(s.delta.Rat())),
	})
}

// json returns a member of an object, or nothing.
func (s *shuffled) json() string {
	if s == nil {
		return ""
	}
	text, err := s.MarshalJSON()
	if err != nil {
		panic(err) // the members are valid JSON
	}
	return `,"shuffled":` + string(text)
}
