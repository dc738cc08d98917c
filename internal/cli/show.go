package cli

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"dither/curator"
	"dither/internal/exact"
	"dither/privacy"
)

// grid lays text out in columns.
type grid struct {
	rows  [][]string
	right []bool // which columns are aligned to the right
}

// add adds a row; whatever a cell holds, it cannot steer the terminal.
func (g *grid) add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = printable(c)
	}
	g.rows = append(g.rows, row)
}

func (g *grid) widths() []int {
	var w []int
	for _, row := range g.rows {
		for i, c := range row {
			if i == len(w) {
				w = append(w, 0)
			}
			w[i] = max(w[i], utf8.RuneCountInString(c))
		}
	}
	return w
}

func (g *grid) text(separator string) string {
	w := g.widths()
	var b strings.Builder
	for _, row := range g.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			pad := strings.Repeat(" ", w[i]-utf8.RuneCountInString(c))
			if i < len(g.right) && g.right[i] {
				cells[i] = pad + c
			} else {
				cells[i] = c + pad
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, separator), " ") + "\n")
	}
	return b.String()
}

// releaseTable is an answer for a person to read: each number with its error bar.
func releaseTable(r *curator.Release) string {
	var g grid
	header := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		header[i] = " " + printable(c.Name)
		g.right = append(g.right, c.Kind == curator.Measure)
	}
	g.add(header...)
	g.add() // the rule goes here
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			if c.Estimate != nil {
				cells[i] = " " + withError(c.Estimate)
			} else {
				cells[i] = " " + cellKey(c)
			}
		}
		g.add(cells...)
	}
	lines := strings.SplitAfter(g.text(" │"), "\n")
	var rule []string
	for _, w := range g.widths() {
		rule = append(rule, strings.Repeat("─", w+1))
	}
	lines[1] = strings.Join(rule, "┼") + "\n"
	return strings.Join(lines, "") + footer(r)
}

func footer(r *curator.Release) string {
	empty := ""
	if len(r.Rows) == 0 {
		empty = "no rows: no group was released, or HAVING, LIMIT or OFFSET left none\n"
	}
	return empty + foundBounds(r) + shortfalls(r) + fmt.Sprintf("%s, remaining %s; %s intervals cover noise, not sampling (%s)\n",
		paid(r), r.Remaining, percent(r.Confidence), r.ID)
}

func percent(confidence string) string {
	x, err := strconv.ParseFloat(confidence, 64)
	if err != nil {
		return confidence
	}
	return strconv.FormatFloat(100*x, 'g', 12, 64) + " %"
}

// steers reports a character that could steer a terminal, or the order in which it writes.
func steers(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x61c || r >= 0x200e && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// printableJSON writes such characters as escapes, which mean the same. (In JSON they can stand in strings only; the
// newlines between lines stay.) A zero has no sign.
func printableJSON(text []byte) string {
	var b strings.Builder
	quoted, escaped := false, false
	for i, r := range string(text) {
		if !quoted && r == '-' && minusZero(text, i) {
			continue
		}
		quoted, escaped = quoted != (r == '"' && !escaped), quoted && r == '\\' && !escaped
		if steers(r) && r != '\n' {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// minusZero reports that the number -0, as encoding/json writes it, begins at i; what may be there else is a number below 0, or an exponent.
func minusZero(text []byte, i int) bool {
	if i > 0 && (text[i-1] == 'e' || text[i-1] == 'E') || i+1 >= len(text) || text[i+1] != '0' {
		return false
	}
	return i+2 == len(text) || strings.IndexByte(",]} \t\r\n", text[i+2]) >= 0
}

// printable replaces control characters, so that a text cannot steer the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return '·'
		}
		return r
	}, s)
}

// cellKey is a key's value, or the sign of a row that is summed over it.
func cellKey(c curator.Cell) string {
	if c.Summed {
		return "Σ"
	}
	return keyText(c.Key)
}

func keyText(key any) string {
	if key == nil {
		return "NULL"
	}
	return printable(fmt.Sprint(key))
}

// withError writes 57.2 ± 1.3, or 57.2 [56.0, 60.1] where the interval is lopsided, or ? [0, 77] where there is no value.
func withError(e *curator.Estimate) string {
	if e.Value == nil {
		return "? " + interval(e, 4)
	}
	if e.Chosen {
		return e.Value.String()
	}
	if e.Low == nil || e.High == nil {
		return compact(e.Value.Real) + " ± ?"
	}
	below, above := e.Value.Real-e.Low.Real, e.High.Real-e.Value.Real
	half := math.Max(below, above)
	if half < 1e-12*math.Max(1, math.Abs(e.Value.Real)) { // the rounding of what is computed
		return e.Value.String()
	}
	if e.Value.Text != nil {
		return e.Value.String() + " " + interval(e, 0)
	}
	places := decimals(half)
	if e.Value.Whole != nil && e.Low.Whole != nil && e.High.Whole != nil { // a whole number, with whole noise
		places = 0
	}
	if math.Abs(above-below) > 0.1*half {
		return round(e.Value, places) + " " + interval(e, places)
	}
	return round(e.Value, places) + " ± " + fixed(half, places)
}

func interval(e *curator.Estimate, places int) string {
	end := func(n *curator.Number, none string) string {
		if n == nil {
			return none
		}
		return strings.TrimSuffix(round(n, places), ".0000")
	}
	return "[" + end(e.Low, "−∞") + ", " + end(e.High, "∞") + "]"
}

// decimals gives the places that show a half-width with two significant digits.
func decimals(half float64) int {
	return min(max(1-int(math.Floor(math.Log10(half))), 0), 12)
}

func round(n *curator.Number, places int) string {
	if n.Whole != nil || n.Text != nil {
		return n.String()
	}
	return fixed(n.Real, places)
}

// fixed writes a number with so many places. What rounds to zero has no sign.
func fixed(x float64, places int) string { return exact.FormatFloat(x, 'f', places) }

// compact writes a number with four significant digits, or as many as stand before the point.
func compact(x float64) string {
	if magnitude := math.Abs(x); magnitude >= 1000 && magnitude < 1e9 || x == math.Trunc(x) && magnitude < 1e9 {
		return fixed(math.Round(x), -1)
	}
	return strconv.FormatFloat(x, 'g', 4, 64) // of no zero
}

// explanationText is an explanation for a person to read.
func explanationText(e *curator.Explanation) string {
	var b strings.Builder
	switch {
	case e.Reuse != nil && e.Reuse.Taken:
		fmt.Fprintf(&b, "price      free: answered from %s%s (--fresh pays %s)\n", strings.Join(e.Reuse.From, ", "), reuseErrors(e.Reuse), e.Price)
	case e.Replayed:
		b.WriteString("price      free: this was released before (--fresh pays again)\n")
	default:
		if e.Reuse != nil {
			fmt.Fprintf(&b, "free       from %s, without naming a price%s\n", strings.Join(e.Reuse.From, ", "), reuseErrors(e.Reuse))
		}
		fmt.Fprintf(&b, "price      %s of the remaining %s%s\n", e.Price, e.Remaining, tooMuch(e))
	}
	unit := "one row"
	if e.Unit.Column != "" {
		unit = fmt.Sprintf("one %s, with at most %s", printable(e.Unit.Column), e.Unit.Bound)
	}
	fmt.Fprintf(&b, "protects   %s (%s)\n", unit, e.Unit.Neighbours)
	if e.RowsBound != nil {
		b.WriteString(rowsToFind(e.RowsBound))
	}
	if e.Unit.PersonRows > 0 {
		fmt.Fprintf(&b, "a person   with %d rows is promised %s by this answer\n", e.Unit.PersonRows, lossOrNone(e.Unit.Person))
	}
	if e.Unit.GroupSize > 0 {
		fmt.Fprintf(&b, "a group    of %s together is promised %s by this answer\n", plural(int(e.Unit.GroupSize), "unit"), lossOrNone(e.Unit.Group))
		if e.Unit.Change != nil {
			fmt.Fprintf(&b, "a change   of one unit's rows into others: %s\n", e.Unit.Change)
		}
	}
	b.WriteString(workText(e))
	sensitivity := fmt.Sprintf(", sensitivity L1 %s, L2 %s", compact(e.Sensitivity), compact(e.L2))
	if e.Sensitivity == 0 { // of quantiles and modes alone, which add nothing up
		sensitivity = ""
	}
	if g := e.Selection; g != nil {
		fmt.Fprintf(&b, "groups     not known beforehand: selected by %s, at δ = %s; one unit counts in at most %d\n", g.Strategy, g.Delta, g.Groups)
		fmt.Fprintf(&b, "released   from %d units on with 50 %%, %d with 95 %%, %d with 99.9 %% probability\n", g.Half, g.Nearly, g.Surely)
		if g.MinUnits > 1 {
			fmt.Fprintf(&b, "hardly     a group of %d units or fewer: with a probability of at most δ\n", g.MinUnits)
		}
		fmt.Fprintf(&b, "vector     of the groups that are released%s\n\n", sensitivity)
	} else {
		fmt.Fprintf(&b, "vector     %s%s\n\n", plural(e.Cells, "cell"), sensitivity)
	}
	g := grid{}
	g.add(" column", "mechanism", "share", "sensitivity", "noise scale", "expected error, "+percent(e.Confidence))
	for _, c := range e.Columns {
		if c.Kind == curator.Key {
			g.add(" "+printable(c.Name), "key")
			continue
		}
		g.add(" "+printable(c.Name), c.Mechanism, columnShare(c), optional(c.Sensitivity), optional(c.Scale), forecast(c))
		for _, p := range c.Parts {
			g.add("   "+p.Name, p.Mechanism, lossShare(p.Share), compact(p.Sensitivity), compact(p.Scale), "")
		}
		if b := c.Bounds; b != nil {
			g.add("   bounds", "search", lossShare(b.Share), "", "", "within "+boundsText(b))
		}
	}
	b.WriteString(g.text("  "))
	b.WriteString(groupingsText(e))
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "\n%s", n)
	}
	b.WriteString("\n")
	return b.String()
}

// workText says what the rows of one unit can make the question take.
func workText(e *curator.Explanation) string {
	if e.Work.Unbounded {
		return "work       not bounded: all rows that one unit has are read, however many they are\n"
	}
	rows := ""
	if e.Work.Rows > 1 {
		rows = fmt.Sprintf(", which has up to %s rows at one place", curator.Thousands(e.Work.Rows))
	}
	return fmt.Sprintf("work       at most %s of %s steps for one unit%s\n", curator.Thousands(e.Work.Steps), curator.Thousands(e.Work.Limit), rows)
}

func tooMuch(e *curator.Explanation) string {
	if e.Affordable {
		return ""
	}
	if s := e.Selection; s != nil {
		asked, err := privacy.ParseDelta(s.Delta)
		left, err2 := privacy.ParseDelta(cmp.Or(e.Remaining.Delta, "0"))
		if err == nil && err2 == nil && asked.Cmp(left) > 0 {
			if left.IsZero() {
				return ": more delta than there is"
			}
			return ": more delta than there is; at most --delta " + left.String()
		}
	}
	if e.Largest == "0" {
		return ": more than there is"
	}
	return ": more than there is; at most --epsilon " + e.Largest
}

// lossOrNone is for a group, which a loss with a δ promises nothing that is told here.
func lossOrNone(l *curator.Loss) string {
	if l == nil {
		return "nothing that is told here (a δ was spent)"
	}
	return l.String()
}

func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return compact(*x)
}

// roughly says what an average's forecast leaves out: the further the average lies from the middle of its bounds, and the
// noisier the count, the wider its interval is.
const roughly = "near the middle of the bounds, to first order"

func forecast(c curator.Column) string {
	f := c.Expected
	switch {
	case f == nil:
		return ""
	case c.RankError != nil:
		text := fmt.Sprintf("± %s rows in order", compact(math.Ceil(*c.RankError)))
		if !math.IsInf(*c.IntervalRows, 0) {
			text += fmt.Sprintf("; interval within ± %s rows", compact(math.Ceil(*c.IntervalRows)))
		}
		return text
	case c.Shortfall != nil:
		return fmt.Sprintf("at most %s rows fewer than the most frequent", compact(math.Ceil(*c.Shortfall)))
	case !math.IsNaN(f.HalfWidth) && f.N > 0:
		return fmt.Sprintf("± %s at n = %d (± %s / n), %s", compact(f.HalfWidth), f.N, compact(f.HalfWidthTimesN), roughly)
	case !math.IsNaN(f.HalfWidthTimesN):
		return fmt.Sprintf("± %s / n, %s", compact(f.HalfWidthTimesN), roughly)
	case !math.IsNaN(f.HalfWidth):
		return "± " + compact(f.HalfWidth)
	}
	return "depends on the parts"
}

// printableLines is printable for a text of several lines.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = printable(l)
	}
	return strings.Join(lines, "\n")
}
