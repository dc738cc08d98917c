package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"dither/internal/ledger"
	"dither/internal/release"
)

// An error that nobody foresaw may quote a row. An analyst sees that there was one, and nothing of it; the owner sees its text, once.
func TestUnknownErrorsAreTheOwnersAlone(t *testing.T) {
	const secret = "alice earns 61000"
	unforeseen := fmt.Errorf("reading a block: %w", errors.New(secret))
	for name, words := range map[string]func(*Owner) *Error{
		"before the charge": func(c *Owner) *Error { return c.public(unforeseen) },
		"worded twice":      func(c *Owner) *Error { return c.public(c.public(unforeseen)) },
		"after the charge":  func(c *Owner) *Error { return c.charged(unforeseen) },
		"of a reservation":  func(c *Owner) *Error { return c.notReserved(unforeseen) },
		"of a release":      func(c *Owner) *Error { return c.after(&release.Released{}, unforeseen) },
		"of a replay":       func(c *Owner) *Error { return c.after(&release.Released{Replayed: true}, unforeseen) },
	} {
		t.Run(name, func(t *testing.T) {
			var owner []string
			c := &Owner{&Session{house: &house{listener: func(err error) { owner = append(owner, err.Error()) }}}}
			e := words(c)
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if told := fmt.Sprintf("%s %+v %s", e, e, text); strings.Contains(told, secret) || errors.Is(e, unforeseen) {
				t.Errorf("an analyst is told %s", told)
			}
			if len(owner) != 1 || !strings.Contains(owner[0], secret) {
				t.Errorf("the owner is told %q", owner)
			}
		})
	}
	for _, e := range []*Error{(&Owner{&Session{house: new(house)}}).public(unforeseen), (&Owner{&Session{house: new(house)}}).charged(unforeseen)} {
		if again := (&Owner{&Session{house: new(house)}}).public(errors.New("another one")); e.Code == CodeInternal && *e != *again {
			t.Errorf("unknown errors differ: %v, %v", e, again)
		}
	}
}

// What package ledger names is known: it is about the ledger, and about no row.
func TestNamedErrorsOfTheLedgerAreTold(t *testing.T) {
	c := &Owner{&Session{house: &house{listener: func(err error) { t.Errorf("the owner alone is told %v", err) }}}}
	for _, err := range append(namedByLedger, &ledger.CorruptError{Line: 3, Err: errors.New("an edit")}, release.ErrUnreadable) {
		if e := c.public(fmt.Errorf("asked: %w", err)); e.Code != CodeLedger || !strings.Contains(e.Message, err.Error()) {
			t.Errorf("%v is told as %+v", err, e)
		}
	}
}
