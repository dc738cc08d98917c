package ledger

import "slices"

// Caps are bounds on a unit's rows and groups that accompany a question, outside its text. 0 means no bound.
type Caps struct {
	Rows   int64 `json:"rows"`
	Groups int64 `json:"groups"`
}

// Subject describes an answer by marks, so that other questions can find it. A mark is a short digest of a text
// that the caller writes. Different texts may have the same mark. So a caller that finds an answer by its marks
// must compare the texts themselves.
type Subject struct {
	Question string `json:"question"` // mark of the question without its price
	// marks of the measured quantities; empty if no other question can use the answer
	Measures   []string `json:"measures,omitempty"`
	Conditions []string `json:"conditions,omitempty"` // marks of conditions that hold for all measured rows
}

// MayTell reports whether an answer with the subject s may answer a part of a question with the subject q. This is
// so if they share a measured quantity, and every condition of s is a condition of q, so that s excludes no row
// that q includes.
func (s *Subject) MayTell(q *Subject) bool {
	return s != nil &&
		slices.ContainsFunc(s.Measures, func(m string) bool { return slices.Contains(q.Measures, m) }) &&
		!slices.ContainsFunc(s.Conditions, func(c string) bool { return !slices.Contains(q.Conditions, c) })
}

func (c *Caps) validate() error {
	if c != nil && (c.Rows < 0 || c.Groups < 0 || *c == (Caps{})) {
		return invalid("the bounds of a question must be whole numbers above 0")
	}
	return nil
}

func (s *Subject) validate() error {
	if s != nil && slices.ContainsFunc(s.marks(), func(m string) bool { return len(m) != markDigits || !isHex(m) }) {
		return invalid("the marks by which an answer is found")
	}
	return nil
}

// markDigits is the number of hexadecimal digits of a mark.
const markDigits = 16

// marks returns all marks of s.
func (s *Subject) marks() []string {
	return slices.Concat([]string{s.Question}, s.Measures, s.Conditions)
}
