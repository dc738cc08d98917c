package ledger

import "slices"

// Caps are bounds that were named beside a question's text: of a unit's rows and groups. A bound of 0 was not named.
type Caps struct {
	Rows   int64 `json:"rows"`
	Groups int64 `json:"groups"`
}

// Subject is what an answer is about, in marks: short digests of texts that whoever asks writes. What differs may have
// one mark, so that who finds an answer by its marks compares what it is about itself.
type Subject struct {
	Question string `json:"question"` // one for the same question at every price
	// the quantities that were measured; none where no other question follows from them
	Measures   []string `json:"measures,omitempty"`
	Conditions []string `json:"conditions,omitempty"` // what is true of all rows that were
}

// MayTell reports that an answer about s may tell something of a question about q: they have a quantity in common, and
// s leaves out no row that q is about.
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

// markDigits is how long a mark is, in hexadecimal.
const markDigits = 16

// marks are all of them.
func (s *Subject) marks() []string {
	return slices.Concat([]string{s.Question}, s.Measures, s.Conditions)
}
