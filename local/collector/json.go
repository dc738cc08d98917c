package collector

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Malicious returns the number of malicious reports to assume for n reports: the given one, or 1 % of n, rounded up,
// if it is negative.
func Malicious(given int64) func(n int64) int64 {
	return func(n int64) int64 {
		if given >= 0 {
			return given
		}
		return (n + 99) / 100
	}
}

// shortest is the number of values of a question that are sent over the network.
const shortest = 1000

// Short returns results with at most the given number of values for each question: those with the largest estimates.
// Since they are chosen by their estimates, these are too large on average.
func (r Results) Short(most int) Results {
	out := r
	out.Questions = slices.Clone(r.Questions)
	for i, q := range r.Questions {
		if len(q.Estimates) <= most {
			continue
		}
		order := make([]int, len(q.Estimates))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(q.Estimates[b].Count, q.Estimates[a].Count) })
		short := QuestionResults{Question: q.Question, Down: q.Down, Up: q.Up}
		for _, j := range order[:most] {
			short.Estimates, short.Suspect = append(short.Estimates, q.Estimates[j]), append(short.Suspect, q.Suspect[j])
		}
		out.Questions[i] = short
	}
	return out
}

type resultsJSON struct {
	Survey    string                `json:"survey"`
	Version   int64                 `json:"survey_version"`
	Digest    string                `json:"digest"`
	N         int64                 `json:"n"`
	Folded    int64                 `json:"folded"`
	Malicious int64                 `json:"malicious"`
	Questions []questionResultsJSON `json:"questions"`
}

type questionResultsJSON struct {
	Name      string      `json:"name"`
	Text      string      `json:"text"`
	Mechanism string      `json:"mechanism"`
	Epsilon   string      `json:"epsilon"`
	K         uint64      `json:"k,omitempty"`
	Low       string      `json:"low,omitempty"` // of a number
	High      string      `json:"high,omitempty"`
	Effect    effectJSON  `json:"malicious_report"`
	Values    []valueJSON `json:"values,omitempty"`
	Mean      *meanJSON   `json:"mean,omitempty"`
}

type meanJSON struct {
	Estimate float64   `json:"estimate"`
	Stddev   float64   `json:"stddev"`
	Low      float64   `json:"low"`
	High     float64   `json:"high"`
	Suspect  rangeJSON `json:"malicious"`
}

// effectJSON is the effect of one malicious report.
type effectJSON struct {
	Down float64 `json:"down"`
	Up   float64 `json:"up"`
}

type valueJSON struct {
	Value    string    `json:"value"`
	Estimate float64   `json:"estimate"`
	Stddev   float64   `json:"stddev"`
	Low      float64   `json:"low"`
	High     float64   `json:"high"`
	Suspect  rangeJSON `json:"malicious"`
}

type rangeJSON struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// MarshalJSON returns the results as the collector sends them.
func (r Results) MarshalJSON() ([]byte, error) {
	out := resultsJSON{
		r.Survey.Name, r.Survey.Version, r.Survey.DigestText(), r.Reports, r.Folded, r.Malicious, []questionResultsJSON{},
	}
	for _, q := range r.Questions {
		of := q.Question
		j := questionResultsJSON{
			Name: of.Name, Text: of.Text, Mechanism: of.Mechanism(), Epsilon: of.Epsilon().String(), Low: of.Low, High: of.High,
			Effect: effectJSON{q.Down, q.Up},
		}
		if of.Oracle != nil {
			j.K = of.Oracle.Params().Values
		}
		if m := q.Mean; m != nil {
			j.Mean = &meanJSON{m.Mean, m.Stddev, m.Low, m.High, rangeJSON{q.SuspectMean.Low, q.SuspectMean.High}}
		}
		for i, e := range q.Estimates {
			j.Values = append(j.Values, valueJSON{
				q.Question.ValueName(e.Value), e.Count, e.Stddev, e.Low, e.High, rangeJSON{q.Suspect[i].Low, q.Suspect[i].High},
			})
		}
		out.Questions = append(out.Questions, j)
	}
	return json.Marshal(out)
}
