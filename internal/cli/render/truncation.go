package render

import (
	"fmt"

	"dither/curator"
)

// truncated states what the bounds of an answer cut, as far as its estimate tells.
func truncated(t *curator.Truncation) string {
	if t == nil {
		return ""
	}
	return cutUnits(t) + clampedRows(t)
}

// clampedRows states how many rows the bounds of the question's sums clamp.
func clampedRows(t *curator.Truncation) (text string) {
	for _, c := range t.Clamped {
		text += fmt.Sprintf(
			"clamped: the bounds of %s clamp %s rows, counting at most %s of one unit\n",
			Printable(c.Column), withError(c.Rows), Plural(int(c.UpTo), "row"))
	}
	return text
}

// cutUnits states how many units the bounds cut.
func cutUnits(t *curator.Truncation) string {
	unit, more := Printable(t.Unit), t.More()
	var text string
	switch t.Verdict {
	case curator.Cuts:
		text = fmt.Sprintf("warning: the bounds cut %s units (%s): they have %s\n", withError(t.Units), unit, more)
		if t.Lost != nil {
			text += fmt.Sprintf("rows left out: at least %s, counting up to %d rows of one unit\n", withError(t.Lost), t.LostUpTo)
		}
		return text + "to cut less, " + t.Advice + "\n"
	case curator.CannotTell:
		return fmt.Sprintf(
			"truncation: cannot tell whether units (%s) have %s: up to %s may, by the noise\n", unit, more, Round(t.Units.High, 0))
	}
	return fmt.Sprintf("truncation: no units (%s) with %s are seen: at most %s have them\n", unit, more, Round(t.Units.High, 0))
}
