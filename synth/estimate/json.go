package estimate

import "encoding/json"

// MarshalJSON writes the estimate.
func (r *Result) MarshalJSON() ([]byte, error) {
	type coefficient struct {
		Name      string   `json:"name"`
		Value     float64  `json:"value"`
		Low       *float64 `json:"low"`
		High      *float64 `json:"high"`
		Variance  *float64 `json:"variance"`
		Freedom   *float64 `json:"freedom"`
		Corrected bool     `json:"corrected"`
	}
	out := struct {
		Synthetic    bool          `json:"synthetic"`
		Statistic    string        `json:"statistic"`
		Draws        int           `json:"draws"`
		Coefficients []coefficient `json:"coefficients"`
		Reason       *string       `json:"no_interval"`
	}{Synthetic: true, Statistic: r.Statistic.String(), Draws: r.Draws, Coefficients: []coefficient{}}
	for _, c := range r.Coefficients {
		one := coefficient{Name: c.Name, Value: c.Value}
		if i := c.Interval; i != nil {
			one.Low, one.High, one.Variance, one.Freedom, one.Corrected = &i.Low, &i.High, &i.Variance, &i.Freedom, i.Corrected
		}
		out.Coefficients = append(out.Coefficients, one)
	}
	if r.Reason != "" {
		out.Reason = &r.Reason
	}
	return json.Marshal(out)
}
