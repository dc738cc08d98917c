package ledger

import "slices"

// Caps are bounds on a unit's rows and groups that a question named beside its text. A bound of 0 was not named.
type Caps struct {
	Rows   int64 `json:"rows"`
	Groups int64 `json:"groups"`
}

// Subject is the subject of an answer, as marks: short digests of texts that the caller writes. Different texts may
// have the same mark, so a caller that finds an answer by its marks compares the subjects itself.
type Subject struct {
	Question string `json:"question"` // the same at every price
	// the measured quantities; none if no other question follows from them
	Measures   []string `json:"measures,omitempty"`
	Conditions []string `json:"conditions,omitempty"` // conditions that hold for all measured rows
}

// MayTell reports whether an answer about s may answer a part of a question about q: they have a quantity in common,
// and s excludes no row that q includes.
func (s *Subject) MayTell(q *Subject) bool {
	return s != nil &&
		slices.ContainsFunc(s.Measures, func(m string) bool { return slices.Contains(q.Measures, m) }) &&
		!slices.ContainsFunc(s.Conditions, func(c string) bool { return !slices.Contains(q.Conditions, c) })
}

func (c *Caps) validate() error {
	if c != nil && (c.Rows < 0 || c.Groups < 0 || *c == (Caps{})) {
		return invalid("bounds beside a question are whole numbers above 0")
	}
	return nil
}

func (s *Subject) validate() error {
	if s != nil && slices.ContainsFunc(s.marks(), func(m string) bool { return len(m) != markDigits || !isHex(m) }) {
		return invalid("what an answer is found by")
	}
	return nil
}

// markDigits is the length of a mark, in hexadecimal digits.
const markDigits = 16

// marks returns all marks of s.
func (s *Subject) marks() []string {
	return slices.Concat([]string{s.Question}, s.Measures, s.Conditions)
}
