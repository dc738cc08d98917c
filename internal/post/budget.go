package post

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// The work of a program and the bytes of its rows are bounded before it runs, by its SELECTs and by the number of released
// rows. Both are public, so a refusal reveals nothing. A unit of work takes about 100 ns. The work for intervals has
// bounds of its own, beyond which numbers have no interval (see env and laws).
const (
	mostWork    = 50_000_000
	mostBytes   = 512 << 20
	mostColumns = 1000
	cellBytes   = 256 // of one cell in all places that hold it, without its text
)

// limit bounds sums of work and of bytes, so that none overflows.
const limit = 1 << 40

func capped(n int) int { return min(n, limit) }

func multiplied(a, b int) int {
	if a != 0 && b > limit/a {
		return limit
	}
	return a * b
}

// costs adds the work of nodes that each evaluation of n evaluates.
func (n *node) costs(args ...*node) *node {
	for _, a := range args {
		n.work = capped(n.work + a.work)
	}
	return n
}

// wide sets the largest width of the texts of n to the largest of its arguments'.
func (n *node) wide(args ...*node) *node {
	for _, a := range args {
		n.width = max(n.width, a.width)
	}
	return n
}

// widthOf returns the largest number of bytes of a text in a column of an answer.
func widthOf(c Column) int {
	switch {
	case c.Type != value.Text:
		return 0
	case c.Width > 0:
		return c.Width
	}
	return value.MaxTextBytes
}

// longestNumber is more than the bytes of a number, a date or a time as a text.
const longestNumber = 32

// textWidths returns the widest text of a function, and its work. Functions that are not named here make texts of at most
// value.MaxTextBytes.
func textWidths(name string, args []*node) (width, work int) {
	all := 0
	for _, a := range args {
		all += max(a.width, longestNumber)
	}
	first := args[0].width
	work = 1 + all/16
	switch name {
	case "trim", "btrim", "ltrim", "rtrim", "substring", "substr", "left", "right", "split_part", "reverse", "regexp_substr":
		width = first
	case "lower", "upper", "initcap": // a letter of another case has at most three times the bytes
		width = 3 * first
	case "concat", "||":
		width = all
	default:
		width = value.MaxTextBytes
	}
	switch name {
	case "like", "ilike":
		work += multiplied(first, args[len(args)-1].width) / 16
	case "translate", "replace", "strpos", "position", "split_part":
		work += multiplied(first, all) / 64
	case "~", "~*", "similar_to", "regexp_like", "regexp_replace", "regexp_substr", "regexp_count":
		work += 100 + 8*first
	}
	return min(width, value.MaxTextBytes), work + min(width, value.MaxTextBytes)/16
}

// demand is a bound on the work of a stage for each row, and on the bytes of its rows.
type demand struct {
	work, bytes int
	frames      []int // of windows that compute each frame anew: the numbers of rows in a frame
}

// demands returns what a SELECT needs for each row.
func (t *stage) demands() demand {
	out := demand{work: 1}
	note := func(keep bool, ns ...*node) {
		for _, n := range ns {
			if n == nil {
				continue
			}
			out.work = capped(out.work + 1 + n.work)
			if keep {
				out.bytes = capped(out.bytes + cellBytes + 2*n.width)
			}
		}
	}
	note(false, t.where, t.having)
	note(true, t.groups...)
	note(true, t.items...)
	for _, o := range t.order {
		note(true, o.by)
	}
	for _, f := range t.folds {
		note(f.distinct, f.args...)
		note(false, f.filter)
		note(true, exactly(value.OfInt(0)))
	}
	for _, w := range t.windows {
		note(true, w.node)
		note(true, w.partition...)
		for _, o := range w.order {
			note(true, o.by)
		}
		note(false, w.args...)
		if w.fold != nil {
			note(true, w.fold.args...)
			note(false, w.fold.filter)
		}
		if n := w.frameRows(); n > 0 {
			out.frames = append(out.frames, n)
		}
	}
	return out
}

// frameRows returns the number of rows of a frame that is added up anew for each row, or 0.
func (w *window) frameRows() int {
	if w.fold == nil || w.frame.Start.Kind == query.UnboundedPreceding || w.frame.End.Kind == query.UnboundedFollowing {
		return 0
	}
	reach := func(e query.FrameEnd) int { return int(e.Offset) }
	return 1 + reach(w.frame.Start) + reach(w.frame.End)
}

// tally counts the work and the bytes of a program.
type tally struct{ work, bytes, frames int }

// stage counts a SELECT over a number of rows.
func (t *tally) stage(by *stage, rows int) {
	d := by.demands()
	t.work = capped(t.work + multiplied(rows, d.work))
	t.bytes = capped(t.bytes + multiplied(rows, d.bytes))
	for _, n := range d.frames {
		t.frames = capped(t.frames + multiplied(rows, min(n, rows)))
	}
}

// source counts what makes the rows of s, and returns their number. The answers have these numbers of rows. A join by keys
// may pair more rows than it is assumed to: they are counted when the program runs.
func (t *tally) source(s source, answers []int) int {
	switch s := s.(type) {
	case answered:
		return answers[min(int(s), len(answers)-1)]
	case listed:
		return len(s)
	case selected:
		rows := t.source(s.of, answers)
		t.stage(s.by, rows)
		if s.by.whole {
			rows = 1
		}
		if s.by.limit != nil {
			rows = int(min(int64(rows), *s.by.limit))
		}
		return rows
	case united:
		rows := 0
		for _, of := range s {
			rows = capped(rows + t.source(of, answers))
		}
		return rows
	case *matched:
		l, r := t.source(s.l, answers), t.source(s.r, answers)
		rows := max(l, r)
		if len(s.left) == 0 {
			rows = min(multiplied(l, r), mostPairs)
		}
		t.pairs(s, rows)
		return rows
	}
	return 1
}

// pairs counts rows of a join.
func (t *tally) pairs(j *matched, rows int) {
	work := 1
	for _, n := range append(slices.Clone(j.left), j.right...) {
		work = capped(work + 1 + n.work)
	}
	if j.on != nil {
		work = capped(work + j.on.work)
	}
	t.work = capped(t.work + multiplied(rows, work))
	t.bytes = capped(t.bytes + multiplied(rows, cellBytes/2*(len(j.types[0])+len(j.types[1]))))
}

// refusal refuses a program that computes too much.
func (t *tally) refusal() error {
	switch {
	case t.bytes > mostBytes:
		return bind.Refuse(query.Pos{}, "select fewer or shorter texts, or fewer groups",
			"the columns and texts that this question computes from its answer are too large together")
	case t.work+t.frames > mostWork && t.frames > t.work:
		return bind.Refuse(query.Pos{}, "use a frame of fewer rows, or one that begins with UNBOUNDED PRECEDING",
			"the frames of the window functions are too large together for so many groups")
	case t.work+t.frames > mostWork:
		return bind.Refuse(query.Pos{}, "compute fewer expressions, or with fewer groups",
			"the expressions that this question computes from its answer take too long together")
	}
	return nil
}

// Fits refuses a program that would compute too much over answers with these numbers of rows.
func (o *Bound) Fits(rows ...int) error {
	t := &tally{}
	t.source(o.of, rows)
	for _, n := range o.inners {
		t.source(n.of, rows)
	}
	return t.refusal()
}

// narrow binds the program to the widths of the texts in the rows. The texts of released keys are often shorter than a
// text can be.
func (o *Bound) narrow(rows [][]Cell) (*Bound, error) {
	columns := slices.Clone(o.given)
	for i := range columns {
		columns[i].Width = 1
		for _, row := range rows {
			columns[i].Width = max(columns[i].Width, len(row[i].Value.Text))
		}
	}
	return o.program.Bind(columns, o.rows, o.picked)
}
