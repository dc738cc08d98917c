package survey

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"dither/local"
	"dither/local/mean"
	"dither/privacy"
)

// publicJSON is the form of a survey that devices read.
type publicJSON struct {
	Form      int            `json:"version"`
	Digest    string         `json:"digest,omitempty"`
	Name      string         `json:"name"`
	Version   int64          `json:"survey_version"`
	Opens     string         `json:"opens,omitempty"`
	Closes    string         `json:"closes,omitempty"`
	Skew      int64          `json:"skew_seconds"`
	Reports   int64          `json:"reports"`
	Epsilon   string         `json:"report_epsilon"`
	Lifetime  string         `json:"lifetime_epsilon"`
	Questions []questionJSON `json:"questions"`
}

type questionJSON struct {
	Name      string   `json:"name"`
	Text      string   `json:"text"`
	Mechanism string   `json:"mechanism"`
	Epsilon   string   `json:"epsilon"`
	K         uint64   `json:"k,omitempty"`
	Values    []string `json:"values,omitempty"`
	Low       string   `json:"low,omitempty"` // of a number
	High      string   `json:"high,omitempty"`
	Seed      uint64   `json:"seed,omitempty"`
	First     string   `json:"first,omitempty"`
	Positions uint64   `json:"positions,omitempty"`
	Bits      int      `json:"bits"`
	Bytes     int      `json:"bytes"`
}

// MarshalJSON returns the public form of the survey.
func (s *Survey) MarshalJSON() ([]byte, error) { return json.Marshal(s.public(s.DigestText())) }

func (s *Survey) public(digest string) publicJSON {
	out := publicJSON{
		Form: FormVersion, Digest: digest, Name: s.Name, Version: s.Version, Skew: int64(s.Skew / time.Second),
		Reports: s.Reports, Epsilon: s.Epsilon().String(), Lifetime: s.Lifetime().String(),
	}
	if !s.Opens.IsZero() {
		out.Opens = s.Opens.UTC().Format(time.RFC3339)
	}
	if !s.Closes.IsZero() {
		out.Closes = s.Closes.UTC().Format(time.RFC3339)
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		var p local.Params
		if q.Oracle != nil {
			p = q.Oracle.Params()
		}
		j := questionJSON{
			Name: q.Name, Text: q.Text, Mechanism: q.Mechanism(), Epsilon: q.Epsilon().String(), K: p.Values, Values: q.Values,
			Low: q.Low, High: q.High, Seed: p.Seed, Positions: p.Positions, Bits: q.Bits(), Bytes: q.size,
		}
		if !p.First.IsZero() {
			j.First = p.First.String()
		}
		out.Questions = append(out.Questions, j)
	}
	return out
}

// ReadPublic reads a survey in its public form, as devices and stores have it. It has no retention. The form must be
// exactly that of the survey, with its digest and its ε. The error is ErrSurvey.
func ReadPublic(text []byte) (*Survey, error) {
	var p publicJSON
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&p); err != nil || len(text) > MaxFile {
		return nil, fmt.Errorf("%w: it is not in the public form", ErrSurvey)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: there is more after the public form", ErrSurvey)
	}
	s := &Survey{Name: p.Name, Version: p.Version, Reports: p.Reports}
	if p.Skew >= 0 && p.Skew <= int64(month/time.Second) {
		s.Skew = time.Duration(p.Skew) * time.Second
	}
	for _, of := range []struct {
		text string
		into *time.Time
	}{{p.Opens, &s.Opens}, {p.Closes, &s.Closes}} {
		if of.text == "" {
			continue
		}
		var err error
		if *of.into, err = time.Parse(time.RFC3339, of.text); err != nil {
			return nil, fmt.Errorf("%w: %q is no time", ErrSurvey, of.text)
		}
	}
	switch {
	case len(p.Questions) < 1 || len(p.Questions) > MaxQuestions:
		return nil, fmt.Errorf("%w: it has 1 to %d questions", ErrSurvey, MaxQuestions)
	case !named(s.Name) || s.Version < 1 || s.Reports < 1 || s.Reports > MaxReports:
		return nil, fmt.Errorf("%w: its name, its version or its number of reports is outside the limits", ErrSurvey)
	}
	for _, j := range p.Questions {
		q, err := j.question()
		if err != nil {
			return nil, fmt.Errorf("%w: question %s: %w", ErrSurvey, shown(j.Name), err)
		}
		if slices.ContainsFunc(s.Questions, func(other Question) bool { return other.Name == q.Name }) {
			return nil, fmt.Errorf("%w: there are two questions %s", ErrSurvey, q.Name)
		}
		s.Questions = append(s.Questions, q)
	}
	if err := s.seal(); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(p, s.public(s.DigestText())) {
		return nil, fmt.Errorf("%w: its digest, its sizes or its ε are not those of its questions", ErrSurvey)
	}
	return s, nil
}

// question returns the question of a public form.
func (j questionJSON) question() (q Question, err error) {
	if !named(j.Name) {
		return q, errors.New("the name is invalid")
	}
	q = Question{Name: j.Name, Text: j.Text}
	if j.Low != "" || j.High != "" {
		return q, q.publicNumbers(j)
	}
	if j.Values != nil {
		q.Values, q.index = j.Values, make(map[string]uint64, len(j.Values))
		for v, text := range j.Values {
			q.index[text] = uint64(v)
		}
		if len(q.index) != len(j.Values) || uint64(len(j.Values)) != j.K {
			return q, errors.New("its values are not k different texts")
		}
	}
	p := local.Params{Mechanism: j.Mechanism, Values: j.K, Seed: j.Seed, Positions: j.Positions}
	if j.Mechanism != "coin" {
		if p.Epsilon, err = privacy.ParseEpsilon(j.Epsilon); err != nil {
			return q, err
		}
	}
	if j.First != "" {
		if p.First, err = privacy.ParseEpsilon(j.First); err != nil {
			return q, err
		}
	}
	q.Oracle, err = local.New(p)
	return q, err
}

// publicNumbers completes a question about numbers.
func (q *Question) publicNumbers(j questionJSON) error {
	q.Low, q.High = j.Low, j.High
	if err := q.bound(); err != nil {
		return err
	}
	e, err := privacy.ParseEpsilon(j.Epsilon)
	if err != nil {
		return err
	}
	if !slices.Contains(mean.Mechanisms, mean.Mechanism(j.Mechanism)) {
		return errors.New("its mechanism is not one of numbers")
	}
	q.Numbers, err = mean.New(mean.Params{Mechanism: mean.Mechanism(j.Mechanism), Epsilon: e})
	return err
}
