package query

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Window is the OVER clause of a call: OVER (PARTITION BY Partition ORDER BY Order Frame). A name that a WINDOW clause
// defines becomes the Window that it stands for. Frame is nil if none was written.
type Window struct {
	At        Pos
	Partition []Expr
	Order     []Order
	Frame     *Frame
}

// Frame is the frame of a window: ROWS or RANGE BETWEEN Start AND End. With Range, no end has an offset.
type Frame struct {
	Range      bool
	Start, End FrameEnd
}

// Whole reports whether the frame of each row is all rows of its partition.
func (f Frame) Whole() bool {
	return f.Start.Kind == UnboundedPreceding && f.End.Kind == UnboundedFollowing
}

// FrameEnd is an end of a frame. Offset is 0 unless Kind is Preceding or Following.
type FrameEnd struct {
	Kind   FrameEndKind
	Offset int64
}

// FrameEndKind distinguishes the ends of frames, in their order from the first row to the last.
type FrameEndKind int

// The kinds of ends.
const (
	UnboundedPreceding FrameEndKind = iota + 1
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Bits of a WindowDef's frame options, from PostgreSQL's parsenodes.h.
const (
	frameNondefault = 0x1
	frameRange      = 0x2
	frameGroups     = 0x8
	frameExclusions = 0x8000 | 0x10000 | 0x20000
)

// The bits for the start and the end of a frame, in the order of FrameEndKind.
var (
	frameStarts = []int32{0x20, 0x800, 0x200, 0x2000, 0x80}
	frameEnds   = []int32{0x40, 0x1000, 0x400, 0x4000, 0x100}
)

// defined returns the windows of a WINDOW clause, by name.
func defined(s *pg.SelectStmt) map[string]*pg.WindowDef {
	out := map[string]*pg.WindowDef{}
	for _, n := range s.GetWindowClause() {
		w := n.GetWindowDef()
		out[w.GetName()] = w
	}
	return out
}

// over converts the OVER clause of a call. depth is the nesting depth of its expressions.
func (l *lowering) over(w *pg.WindowDef, at Pos, depth int) (*Window, error) {
	at = l.pos(w.GetLocation(), at)
	no := func(message, hint string) (*Window, error) { return nil, &Error{Pos: at, Message: message, Hint: hint} }
	name := w.GetName()
	if name == "" {
		name = w.GetRefname()
	}
	if name != "" {
		base := l.windows[name]
		plain := w.GetName() != ""
		switch {
		case base == nil:
			return no("there is no window "+quote(name), "define it: WINDOW "+quote(name)+" AS (…)")
		case base.GetRefname() != "" || !plain && base.GetFrameOptions()&frameNondefault != 0 ||
			!plain && len(w.GetPartitionClause()) > 0 ||
			!plain && len(w.GetOrderClause()) > 0 && len(base.GetOrderClause()) > 0:
			return no("the window "+quote(name)+" cannot be extended in this way", "write the window in full")
		}
		merged := &pg.WindowDef{
			Location: w.GetLocation(), PartitionClause: base.GetPartitionClause(), OrderClause: base.GetOrderClause(),
			FrameOptions: base.GetFrameOptions(), StartOffset: base.GetStartOffset(), EndOffset: base.GetEndOffset(),
		}
		if !plain {
			merged.FrameOptions, merged.StartOffset, merged.EndOffset = w.GetFrameOptions(), w.GetStartOffset(), w.GetEndOffset()
			if len(w.GetOrderClause()) > 0 {
				merged.OrderClause = w.GetOrderClause()
			}
		}
		w = merged
	}
	out := &Window{At: at}
	var err error
	if out.Partition, err = l.exprs(w.GetPartitionClause(), at, depth); err != nil {
		return nil, err
	}
	for _, n := range w.GetOrderClause() {
		o, err := l.order(n, at, depth)
		if err != nil {
			return nil, err
		}
		out.Order = append(out.Order, o)
	}
	out.Frame, err = l.frame(w, at)
	return out, err
}

// frame converts the frame of a window, or returns nil if none was written.
func (l *lowering) frame(w *pg.WindowDef, at Pos) (*Frame, error) {
	options := w.GetFrameOptions()
	if options&frameNondefault == 0 {
		return nil, nil
	}
	refuse := func(message, hint string) (*Frame, error) { return nil, &Error{Pos: at, Message: message, Hint: hint} }
	switch {
	case options&frameGroups != 0:
		return refuse("GROUPS is not supported in a window's frame", "write ROWS")
	case options&frameExclusions != 0:
		return refuse("EXCLUDE is not supported in a window's frame", "subtract the row's own value")
	}
	out := &Frame{Range: options&frameRange != 0}
	for _, end := range []struct {
		of     *FrameEnd
		bits   []int32
		offset *pg.Node
	}{{&out.Start, frameStarts, w.GetStartOffset()}, {&out.End, frameEnds, w.GetEndOffset()}} {
		for i, bit := range end.bits {
			if options&bit != 0 {
				end.of.Kind = FrameEndKind(i + 1)
			}
		}
		if end.of.Kind != Preceding && end.of.Kind != Following {
			continue
		}
		if out.Range {
			return refuse("RANGE with a distance is not supported", "write ROWS, which counts rows")
		}
		n, err := l.count("ROWS", end.offset, at)
		if err != nil {
			return nil, err
		}
		if n == nil {
			return refuse("a frame needs a number of rows", "write ROWS 6 PRECEDING")
		}
		end.of.Offset = *n
	}
	if out.Start.Kind == 0 || out.End.Kind == 0 || out.Start.Kind > out.End.Kind {
		return refuse("this frame is not supported", "write ROWS BETWEEN 6 PRECEDING AND CURRENT ROW")
	}
	return out, nil
}

// over writes an OVER clause.
func (p *printer) over(w *Window) {
	p.write(" OVER (")
	space := ""
	for i, e := range w.Partition {
		if i == 0 {
			p.write("PARTITION BY ")
			space = " "
		}
		p.comma(i)
		p.expr(e, 0)
	}
	for i, o := range w.Order {
		if i == 0 {
			p.write(space + "ORDER BY ")
			space = " "
		}
		p.comma(i)
		p.order(o)
	}
	if w.Frame != nil {
		mode := "ROWS"
		if w.Frame.Range {
			mode = "RANGE"
		}
		p.write(space + mode + " BETWEEN " + w.Frame.Start.String() + " AND " + w.Frame.End.String())
	}
	p.write(")")
}

// String returns the end as written in SQL.
func (e FrameEnd) String() string {
	switch e.Kind {
	case UnboundedPreceding:
		return "UNBOUNDED PRECEDING"
	case Preceding:
		return strconv.FormatInt(e.Offset, 10) + " PRECEDING"
	case Following:
		return strconv.FormatInt(e.Offset, 10) + " FOLLOWING"
	case UnboundedFollowing:
		return "UNBOUNDED FOLLOWING"
	}
	return "CURRENT ROW"
}
