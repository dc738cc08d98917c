package owner

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/privacy"
)

// Stream is the command `dither stream`.
var Stream = console.Verb{
	Name:  "stream",
	Args:  "create NAME | advance NAME | show NAME | end NAME | list",
	About: "release a count for each day of a horizon, under one price (owner)",
	Run:   runStream,
}

// streamFlags are the values of the flags of `dither stream`.
type streamFlags struct {
	declaration    curator.StreamDeclaration
	options        curator.StreamOptions
	periods, until string
	rows, spread   string // the values of --rows and --rows-per-period
	explain        bool
	picture        console.Picture
}

func runStream(s *console.Console, args []string) error {
	f := streamFlags{}
	d := &f.declaration
	s.Flag(&d.SQL, "question", "SQL", "create: the count, such as SELECT COUNT(*) FROM visits")
	s.Flag(&d.Every, "every", "hour|day|week", "create: the length of a period (default day)")
	s.Flag(&d.From, "from", "DATE", "create: the beginning of the first period, in UTC (default today, or this hour)")
	s.Flag(&f.periods, "periods", "N", "create: the number of periods")
	s.Flag(&f.rows, "rows", "R", "create: the most rows of one unit that count over all periods (default 1)")
	s.Flag(&f.spread, "rows-per-period", "P", "create: the most rows of one unit that count in one period (default all)")
	s.Flag(&d.Decay, "decay", "D", "create: measure for sums in which each period multiplies earlier counts by D")
	s.Flag(func(text string) error {
		for name := range strings.SplitSeq(text, ",") {
			d.Key = append(d.Key, strings.TrimSpace(name))
		}
		return nil
	}, "key", "COLUMNS", "create: the columns that identify a row of a unit (default: all columns)")
	s.PriceFlags(&d.Epsilon, &d.Rho, "the whole stream")
	s.Flag(&f.explain, "explain", "", "create: state the errors and the price, and create nothing")
	s.Flag(&f.until, "until", "PERIOD", "advance: the last period to release")
	s.Flag(&f.options.Window, "window", "W", "the number of periods of a window (default 7); create: measure for windows, not for totals")
	s.ConfidenceFlag(&f.options.Confidence)
	s.Flag(&f.picture.File, "plot", "FILE",
		"draw the released periods as FILE.svg or FILE.png; create: the expected errors")
	s.FormatFlag(console.AnyFormat...)
	s.AnalystFlag(&f.options.Analyst)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if err := f.picture.Check(s); err != nil {
		return err
	}
	if len(rest) > 0 && (rest[0] == "list" || rest[0] == "end") && f.picture.File != "" {
		return console.Usage("--plot draws one stream: give it with stream create, advance or show")
	}
	if len(rest) == 1 && rest[0] == "list" {
		return s.Asking(func(c *curator.Session) error { return listStreams(s, c, f.options) })
	}
	if len(rest) != 2 {
		return console.Usage("stream create NAME, stream advance NAME, stream show NAME, stream end NAME, or stream list")
	}
	d.Name, d.Analyst = rest[1], f.options.Analyst
	switch rest[0] {
	case "create":
		return createStream(s, f)
	case "advance":
		return advanceStream(s, f)
	case "end":
		return endStream(s, d.Name)
	case "show":
		return s.Asking(func(c *curator.Session) error {
			r, err := c.ReadStream(d.Name, f.options)
			if err != nil {
				return err
			}
			return errors.Join(showStream(s, r), drawStream(f.picture.File, r))
		})
	}
	return console.Usage("stream create, advance, show, end or list, not %q", rest[0])
}

// createStream declares and pays for a stream, or explains it.
func createStream(s *console.Console, f streamFlags) error {
	periods, err := console.WholeFlag("periods", f.periods, 1, math.MaxInt32)
	if err != nil {
		return err
	}
	f.declaration.Periods = int(periods)
	if f.rows != "" {
		if f.declaration.Rows, err = console.WholeFlag("rows", f.rows, 1, math.MaxInt32); err != nil {
			return err
		}
	}
	if f.spread != "" {
		if f.declaration.PerPeriod, err = console.WholeFlag("rows-per-period", f.spread, 1, math.MaxInt32); err != nil {
			return err
		}
	}
	f.declaration.Window = f.options.Window
	return s.With(func(c *curator.Owner) error {
		budget, err := c.Budget()
		if err != nil {
			return err
		}
		choice, err := chooseMatrix(&f.declaration, budget.Neighbours == privacy.ChangeOne.String())
		if err != nil {
			return err
		}
		if f.explain {
			r, err := c.ExplainStream(f.declaration, f.options)
			if err != nil {
				return err
			}
			inRows(r, choice)
			return errors.Join(expectStream(s, r, true), drawExpected(f.picture.File, r))
		}
		r, err := c.CreateStream(s.Context(), f.declaration)
		if err != nil {
			return err
		}
		return errors.Join(expectStream(s, r, false), drawExpected(f.picture.File, r))
	})
}

// advanceStream releases the periods that can be closed.
func advanceStream(s *console.Console, f streamFlags) error {
	until := int64(0)
	if f.until != "" {
		var err error
		if until, err = console.WholeFlag("until", f.until, 1, math.MaxInt32); err != nil {
			return err
		}
	}
	return s.With(func(c *curator.Owner) error {
		r, err := c.AdvanceStream(s.Context(), f.declaration.Name, int(until), f.options)
		if err != nil {
			return err
		}
		return errors.Join(showStream(s, r), drawStream(f.picture.File, r))
	})
}

// endStream gives a stream up.
func endStream(s *console.Console, name string) error {
	return s.With(func(c *curator.Owner) error {
		r, err := c.EndStream(s.Context(), name)
		if err != nil {
			return err
		}
		if s.Format == "json" {
			return s.JSON(r)
		}
		s.Print("stream %s (%s) is given up: no further period is released; its releases remain, and its price of %s stays spent\n",
			r.Name, r.ID, r.Price)
		return nil
	})
}

// drawStream writes a picture of the released periods, if a file is given.
func drawStream(file string, r *curator.StreamReport) error {
	if file == "" {
		return nil
	}
	return console.DrawFile(file, plot.Write, render.ChartOf(r.Drawn()), "the release is")
}

// showStream prints the released periods of a stream.
func showStream(s *console.Console, r *curator.StreamReport) error {
	switch s.Format {
	case "json":
		return s.JSON(r)
	case "csv":
		return s.CSV(render.ReleaseRecords(r.Table()))
	case "markdown":
		s.Print("%s", render.ReleaseMarkdown(r.Table()))
		return nil
	}
	if len(r.Cells) == 0 {
		s.Print("no period is released yet\n")
		return nil
	}
	s.Print("%s", render.ReleaseTable(r.Table()))
	return nil
}

// expectStream prints the declaration of a stream, with the expected errors.
func expectStream(s *console.Console, r *curator.StreamReport, explained bool) error {
	if s.Format == "json" {
		return s.JSON(r)
	}
	did := "created " + r.ID
	if explained {
		did = "nothing is created or charged"
	}
	s.Print("stream %s: %s\n%s\n", r.Name, did, render.PrintableLines(r.SQL))
	s.Print("%d periods of one %s from %s; rows of a unit that count over all periods: at most %d\n",
		r.Periods, r.Every, r.From.Format("2006-01-02 15:04 MST"), r.Rows)
	if r.PerPeriod > 0 {
		s.Print("rows of a unit that count in one period: at most %d\n", r.PerPeriod)
	}
	verb := "identifies"
	if len(r.Key) > 1 {
		verb = "identify"
	}
	s.Print("a row counts in the period in which it is first sealed; %s %s it\n",
		render.Printable(strings.Join(r.Key, ", ")), verb)
	s.Print("the price of all periods together is %s; remaining %s\n\n", r.Price, r.Remaining)
	var g render.Grid
	g.Right = []bool{true, true, true, true, true}
	head := []string{"period", " stddev of count", " of total", fmt.Sprintf(" of last_%d", r.Window)}
	if r.Decay != "" {
		head = append(head, " of decayed")
	}
	g.Add(head...)
	g.Add()
	for _, i := range expectedRows(len(r.Expected)) {
		e := r.Expected[i]
		row := []string{
			strconv.Itoa(e.Period), fmt.Sprintf(" %.2f", e.Count), fmt.Sprintf(" %.2f", e.Total), fmt.Sprintf(" %.2f", e.Window),
		}
		if r.Decay != "" {
			row = append(row, fmt.Sprintf(" %.2f", e.Decayed))
		}
		g.Add(row...)
	}
	s.Print("%s", g.Ruled())
	showChoice(s, r)
	return nil
}

// expectedRows selects the periods whose expected errors are printed: the first, the last, and some between.
func expectedRows(n int) (out []int) {
	for i := 1; i < n; i *= 2 {
		out = append(out, i-1)
	}
	return append(out, n-1)
}

// listStreams prints all streams of the home.
func listStreams(s *console.Console, c *curator.Session, o curator.StreamOptions) error {
	all, err := c.Streams(o)
	if err != nil {
		return err
	}
	if s.Format == "json" {
		return s.JSON(all)
	}
	if len(all) == 0 {
		s.Print("there are no streams\n")
	}
	for _, r := range all {
		if r.Damaged {
			s.Print("%s (%s): an entry of this stream in the ledger cannot be read\n", render.Printable(r.Name), r.ID)
			continue
		}
		state := ""
		if r.GivenUp {
			state = ", given up"
		}
		s.Print("%s (%s): %d of %d periods of one %s are released, from %s; %s%s\n",
			r.Name, r.ID, r.Released(), r.Periods, r.Every, r.From.Format("2006-01-02"), r.Price, state)
	}
	return nil
}
