package channel

import (
	"slices"
	"strconv"
	"strings"
)

// names takes the names off the lines. nil are none.
//
//   - The first line names the outputs if its first field is "input" or "inputs", or empty, or if no field after the
//     first is a number.
//   - The first field of each line names the input if there is a first line of names that begins so, or if the first
//     field of any line is no number, or if the first line of names is one field shorter than the next.
//
// No row may be taken for names, as what it shows would be missed, so what can be read in both ways is refused: a line
// that begins with "input" and goes on with numbers, if they are no different whole numbers or the next line begins
// with that word, too; one with an empty field before numbers alone; and a first line of another word and different
// whole numbers, as reported,0,1, which names outputs as often as it is the row of a mechanism without noise. And no
// name may be taken for a number. Where rows sum to 1 it hardly can. Where they are normalized it can, so that names
// must be announced: by a first line whose first field is "input".
func (t *table) names(normalize bool) (inputs, outputs []string, err error) {
	if len(t.lines) == 0 {
		return nil, nil, nil
	}
	first := t.lines[0]
	said, numbers := isInput(first[0]), len(first) > 1 && !slices.ContainsFunc(first[1:], unlike)
	switch {
	case said && numbers &&
		(!differentWholes(first[1:]) || len(t.lines) > 1 && strings.HasPrefix(strings.ToLower(t.lines[1][0]), "input")):
		return nil, nil, wrong(
			"the first line may be of names, or a row: write names of outputs that are no numbers (as y=%s), or another name of the row",
			cut(first[1]),
		)
	case !said && numbers && first[0] != "" && !numeric(first[0]) && len(first) > 2 && differentWholes(first[1:]):
		return nil, nil, wrong(
			"the first line may be of names, or a row: if it names the outputs, begin it with the word input; if it is a row, write its numbers with a point, as %s.0",
			cut(first[1]),
		)
	case first[0] == "" && numbers:
		return nil, nil, wrong("the first line begins with an empty field: if it is of names, write \"input\" there")
	}
	corner := said || first[0] == ""
	if corner || !slices.ContainsFunc(first[min(1, len(first)-1):], numeric) {
		outputs, t.lines = first, t.lines[1:]
	}
	shorter := outputs != nil && len(t.lines) > 0 && len(outputs)+1 == len(t.lines[0])
	named := corner || shorter ||
		slices.ContainsFunc(t.lines, func(line []string) bool { return len(line) > 1 && !numeric(line[0]) })
	if normalize && !said && (outputs != nil || named || t.mayBeNames()) {
		return nil, nil, wrong(
			"names may be among what is to be normalized: write a first line of the word input and the names of the outputs, and begin each other line with the name of its input",
		)
	}
	if !named {
		return nil, outputs, nil
	}
	for i, line := range t.lines {
		inputs, t.lines[i] = append(inputs, line[0]), line[1:]
	}
	if corner || outputs != nil && len(t.lines) > 0 && len(outputs) == len(t.lines[0])+1 {
		outputs = outputs[1:]
	}
	return inputs, outputs, nil
}

// isInput reports the word that begins a line of names.
func isInput(text string) bool {
	return strings.EqualFold(text, "input") || strings.EqualFold(text, "inputs")
}

// differentWholes reports whole numbers without a point, no two alike.
func differentWholes(fields []string) bool {
	seen := map[string]bool{}
	for _, text := range fields {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil || seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

// mayBeNames reports that the first field of each line, or the fields of the first line, count up in steps of 1, as
// names often do.
func (t *table) mayBeNames() bool {
	column := make([]string, len(t.lines))
	for i, line := range t.lines {
		column[i] = line[0]
	}
	return counting(column) || counting(t.lines[0])
}

// counting reports two decimals or more, each one more than the one before it.
func counting(texts []string) bool {
	last := 0.
	for i, text := range texts {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || i > 0 && x-last != 1 {
			return false
		}
		last = x
	}
	return len(texts) > 1
}

func unlike(text string) bool { return !numeric(text) }

// numeric reports a text that is meant as a number, well or badly: no name is taken for one that it may hide an error
// of.
func numeric(text string) bool {
	switch strings.ToLower(strings.TrimLeft(text, "+-")) {
	case "", "nan", "inf", "infinity", "na", "null", "none":
		return true
	}
	if rest, ok := strings.CutPrefix(text, "exp"); ok && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "(") {
		return true
	}
	return strings.ContainsAny(text[:1], "0123456789.+-(")
}
