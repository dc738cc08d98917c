package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"dither/internal/exact"
	"dither/privacy"
)

// Limits on the lengths of texts and on numbers, far above those of a policy or a question.
const (
	maxName     = 1 << 10
	maxQuestion = 1 << 20
	maxHex      = 128
	maxParts    = 1 << 20 // the most parts of one unit
)

func invalid(what string) error {
	return fmt.Errorf("%w: %s", ErrInvalid, what)
}

func (g Genesis) validate() error {
	if len(g.ID) != 32 || !isHex(g.ID) {
		return invalid("a ledger's id must be 32 hexadecimal digits")
	}
	return nil
}

func (t Terms) validate() error {
	switch {
	case !isDigest(t.Digest):
		return invalid("the policy's digest is not hexadecimal")
	case !isName(t.Population):
		return invalid("the population's name")
	case t.Neighbours != privacy.AddRemove && t.Neighbours != privacy.ChangeOne:
		return invalid("the neighbours")
	case t.Budget.IsZero() || t.MaxPrice.IsZero():
		return invalid("the budget and the maximum price must be above 0")
	case t.Budget.Accountant() != t.MaxPrice.Accountant():
		return invalid("the budget and the maximum price are counted differently")
	}
	for table, unit := range t.Units {
		if !isName(table) || !isName(unit) {
			return invalid("the name of a table or of its unit")
		}
	}
	for table, p := range t.Parts {
		if !isName(table) || !isName(p.Term) || p.Most < 1 || p.Most > maxParts {
			return invalid("the parts of a table")
		}
	}
	for name, limit := range t.Analysts {
		if !isName(name) || limit.IsZero() || limit.Accountant() != t.Budget.Accountant() {
			return invalid("the name or the limit of an analyst")
		}
	}
	return t.Grant.validate(t.Budget)
}

func (c *Confined) validate() error {
	switch {
	case c == nil:
		return nil
	case !isName(c.Table) || len(c.Parts) == 0:
		return invalid("a table and at least one part are required")
	}
	for i, p := range c.Parts {
		if !isName(p) || i > 0 && c.Parts[i-1] >= p {
			return invalid("parts must be sorted, without repetition")
		}
	}
	return nil
}

func (a Adoption) validate() error {
	if a.Group < 1 {
		return invalid("past losses must count at least once")
	}
	return a.Terms.validate()
}

func (s Source) validate() error {
	if !isName(s.Table) || s.Version < 1 {
		return invalid("a source must be a table and a version of at least 1")
	}
	return nil
}

func (s Seal) validate() error {
	if len(s.SHA256) != 64 || !isHex(s.SHA256) {
		return invalid("the digest of the sealed file must be 64 hexadecimal digits")
	}
	return Source{s.Table, s.Version}.validate()
}

func (m Mechanism) validate() error {
	switch {
	case !isName(m.Name):
		return invalid("the name of a mechanism")
	case !isPositive(m.Sensitivity):
		return invalid("the sensitivity of a mechanism")
	case !isPositive(m.Scale):
		return invalid("the scale of a mechanism")
	case m.Cells < 0:
		return invalid("the number of cells of a mechanism")
	}
	return nil
}

func (r Reservation) validate() error {
	switch {
	case !isDigest(r.Key):
		return invalid("the replay key is not hexadecimal")
	case !isDigest(r.Policy):
		return invalid("the policy's digest is not hexadecimal")
	case r.Loss.IsZero():
		return fmt.Errorf("%w: it is zero", ErrPrice)
	case len(r.Mechanisms) == 0:
		return invalid("a reservation without a mechanism")
	case len(r.Sources) == 0:
		return invalid("a reservation without a source")
	case len(r.Question) > maxQuestion || !utf8.ValidString(r.Question):
		return invalid("the question's text")
	case !mayAsk(r.Analyst):
		return invalid("the analyst's name")
	}
	for _, part := range []interface{ validate() error }{r.Confined, r.Caps, r.Subject} {
		if err := part.validate(); err != nil {
			return err
		}
	}
	for _, m := range r.Mechanisms {
		if err := m.validate(); err != nil {
			return err
		}
	}
	for _, s := range r.Sources {
		if err := s.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (r Release) validate() error {
	if !json.Valid(r.Values) {
		return invalid("the values are not JSON")
	}
	return nil
}

func (s Step) validate() error {
	if len(s.Question) > maxQuestion || !utf8.ValidString(s.Question) {
		return invalid("the question's text")
	}
	return Release{s.Reservation, s.Values}.validate()
}

func (f Failure) validate() error {
	if f.Counted && !f.GivenUp {
		return invalid("only a cancelled question or step counts towards a suspension of its analyst")
	}
	return nil
}

func (s StepGivenUp) validate() error {
	if !mayAsk(s.Analyst) {
		return invalid("the analyst's name")
	}
	return nil
}

func (Resume) validate() error { return nil }

func (t Torn) validate() error {
	if t.Bytes < 0 || len(t.SHA256) != 64 || !isHex(t.SHA256) {
		return invalid("the length or the digest of a fragment")
	}
	if t.Unacknowledged && !t.Loss.IsZero() {
		return invalid("a fragment that was not acknowledged must cost nothing")
	}
	return nil
}

// isName reports whether s is valid UTF-8 of 1 to maxName bytes.
func isName(s string) bool { return s != "" && len(s) <= maxName && utf8.ValidString(s) }

// mayAsk reports whether s may name the analyst of a reservation; "" names nobody.
func mayAsk(s string) bool { return s == "" || isName(s) }

// isDigest reports whether s has 16 to maxHex hexadecimal digits.
func isDigest(s string) bool { return len(s) >= 16 && len(s) <= maxHex && isHex(s) }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func isPositive(text string) bool {
	r, err := exact.ParseRat(text)
	return err == nil && r.Sign() > 0
}
