package console

import (
	"errors"
	"os"

	"dither/curator"
	"dither/internal/cli/render"
)

func (s *Console) open() (*curator.Owner, error) {
	var o curator.Options
	if os.Getenv("DITHER_OWNER_ERRORS") != "" {
		// A person who can run the command line can read the files, so this is the owner.
		o.OwnerErrors = func(err error) {
			s.Note("for the owner only, may quote rows: %s\n", render.PrintableLines(err.Error()))
		}
	}
	return curator.OpenWith(s.Home, o)
}

// With opens the home, calls do and closes the home.
func (s *Console) With(do func(*curator.Owner) error) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

// Asking opens the home and passes do a session for the analyst that --analyst names. A session has none of the
// owner's methods.
func (s *Console) Asking(do func(*curator.Session) error) error {
	return s.With(func(c *curator.Owner) error { return do(s.session(c)) })
}

// session returns a session, bound to the analyst that --analyst names if the command has that flag.
func (s *Console) session(c *curator.Owner) *curator.Session {
	if s.analyst == nil {
		return c.Session()
	}
	return c.For(*s.analyst)
}

// Seal seals one table and prints the owner's report on stderr, so that stdout contains only answers. It shows
// progress if stderr is a terminal.
func (s *Console) Seal(c *curator.Owner, table string, o curator.SealOptions) error {
	watched := isTerminal(s.Stderr)
	if watched {
		o.Progress = func(rows, bytes, total int64) {
			if total > 0 {
				s.Note("\rsealing %s: %d rows, %d %%", render.Printable(table), rows, 100*bytes/total)
			}
		}
	}
	report, err := c.Seal(s.Context(), table, o)
	if watched {
		s.Note("\r\033[K")
	}
	if err != nil {
		return err
	}
	s.Note("%s", render.PrintableLines(report.Text))
	return nil
}
