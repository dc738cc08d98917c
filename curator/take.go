package curator

import (
	"context"

	"dither/internal/release"
)

// take runs a primitive, and returns errors as *Error.
func (c *Session) take(ctx context.Context, p release.Primitive) (*release.Released, error) {
	s, err := c.kernel.Release(ctx, p)
	if err != nil {
		return nil, afresh(p.Look().Fresh(), c.public(err))
	}
	return s, nil
}

// after returns the *Error for a failure after s was released. If s was not replayed, its price stays spent.
func (c *Session) after(s *release.Released, err error) *Error {
	if s.Replayed {
		return c.public(err)
	}
	return c.charged(err)
}

// remains returns what remains of the budget, to be reported with s. If that fails, s is recorded all the same.
func (c *Session) remains(s *release.Released) (Loss, error) {
	state, err := c.ledger.State()
	if err == nil {
		return left(state.Remaining), nil
	}
	if s.Replayed {
		return Loss{}, c.public(err)
	}
	e := c.charged(err)
	e.Hint = "ask again: the answer is recorded, and is returned free"
	return Loss{}, e
}
