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

// Sealing opens the home as [Console.Asking] does. If do fails because a table was never sealed, Sealing seals the
// table and calls do again. This is permitted because only an owner runs the command line, and the failed question
// was not charged. A join may need several tables.
func (s *Console) Sealing(do func(*curator.Session) error) error {
	return s.With(func(c *curator.Owner) error {
		for sealed := ""; ; {
			err := do(s.session(c))
			var e *curator.Error
			if !errors.As(err, &e) || e.Code != curator.CodeNotSealed || e.Table == sealed {
				return err
			}
			if err := s.sealMissing(c, e.Table); err != nil {
				return err
			}
			sealed = e.Table
		}
	})
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

// sealMissing seals a table unless it already has a version.
func (s *Console) sealMissing(c *curator.Owner, table string) error {
	tables, err := c.Tables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.Name == table && t.NeverSealed {
			if err := s.Seal(c, t.Name, curator.SealOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}
