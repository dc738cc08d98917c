package render

import (
	"fmt"
	"slices"
	"strings"

	"dither/curator"
)

// TruncationLines states what the bounds of an answer cut, as far as its estimate tells. Without an estimate it
// returns "".
func TruncationLines(t *curator.Truncation) string {
	if t == nil {
		return ""
	}
	return cutUnits(t) + clampedRows(t)
}

// TruncationText returns the lines of TruncationLines as one line, without the advice, for captions and CSV.
func TruncationText(t *curator.Truncation) string {
	if t != nil && t.Advice != "" {
		without := *t
		without.Advice, t = "", &without
	}
	return strings.ReplaceAll(strings.TrimSuffix(TruncationLines(t), "\n"), "\n", "; ")
}

// releaseTruncation returns what the bounds of an answer cut as one line. If several questions were measured, it names
// the release of each estimate.
func releaseTruncation(r *curator.Release) string {
	if len(r.Questions) == 0 {
		return TruncationText(r.Truncation)
	}
	var texts []string
	for _, m := range r.Questions {
		text := m.ID + ": " + TruncationText(m.Truncation)
		if m.Truncation != nil && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ". ")
}

// TruncatedCaption returns a picture's caption with an estimate of TruncationText before it.
func TruncatedCaption(estimate, caption string) string {
	if estimate == "" {
		return caption
	}
	return estimate + ". " + caption
}

// TruncatedRecords appends a column with an estimate of TruncationText to the records of a CSV file, whose first is the
// header.
func TruncatedRecords(estimate string, records [][]string) [][]string {
	if estimate == "" {
		return records
	}
	for i := range records {
		text := estimate
		if i == 0 {
			text = "truncation"
		}
		records[i] = append(records[i], text)
	}
	return records
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

// cutUnits states how many units the bounds cut, and how many rows they leave out, as far as the estimate has it.
func cutUnits(t *curator.Truncation) (text string) {
	unit, more := Printable(t.Unit), t.More()
	switch t.Verdict {
	case curator.Cuts:
		text = fmt.Sprintf("warning: the bounds cut %s units (%s): they have %s\n", withError(t.Units), unit, more)
	case curator.CannotTell:
		text = fmt.Sprintf(
			"truncation: cannot tell whether units (%s) have %s: up to %s may, by the noise\n", unit, more, Round(t.Units.High, 0))
	default:
		text = fmt.Sprintf("truncation: no units (%s) with %s are seen: at most %s have them\n", unit, more, Round(t.Units.High, 0))
	}
	if lost := t.Lost; lost != nil {
		if noisy := *lost; noisy.Value != nil && noisy.Low != nil && noisy.Value.Real < noisy.Low.Real {
			noisy.Value, lost = noisy.Low, &noisy // a number of rows is not negative
		}
		text += fmt.Sprintf("rows left out: at least %s, counting up to %d rows of one unit\n", withError(lost), t.LostUpTo)
	}
	if t.Advice != "" {
		text += "to cut less, " + t.Advice + "\n"
	}
	return text
}
