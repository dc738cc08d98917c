package channel

import (
	"slices"
	"strconv"
	"strings"
)

// names removes the names from the lines of a table and returns them. inputs or outputs is nil if the table has no
// such names.
//
//   - The first line names the outputs if its first field is empty, "input" or "inputs". It also does so if none of
//     its other fields is a number.
//   - The first field of each line names the input in three cases: if the first line begins with an empty field,
//     "input" or "inputs"; if the first field of any line is not a number; and if the first line contains names and
//     is one field shorter than the next line.
//
// A row must not be taken for names, because it would then not be checked. So a first line that could be either is
// an error:
//
//   - It begins with "input" or "inputs", and numbers follow. It is accepted as names only if the numbers are
//     different integers and the next line does not begin with "input".
//   - It begins with another word, and at least two different integers and nothing else follow. An example is
//     reported,0,1: it could name outputs, or be a row of a mechanism without noise.
//   - It begins with an empty field, and only numbers follow.
//
// A name must not be taken for a number. Where rows must sum to 1, such an error would be noticed. Where rows are
// normalized it would not. So names are then accepted only if the first field of the first line is "input" or
// "inputs".
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
			"the first line may contain names, or be a row: write names of outputs that are not numbers, such as "+
				"y=%s, or rename the row",
			cut(first[1]),
		)
	case !said && numbers && first[0] != "" && !numeric(first[0]) && len(first) > 2 && differentWholes(first[1:]):
		return nil, nil, wrong(
			"the first line may contain names, or be a row: if it names the outputs, begin it with the word input; "+
				"if it is a row, write its numbers with a point, such as %s.0",
			cut(first[1]),
		)
	case first[0] == "" && numbers:
		return nil, nil, wrong("the first line begins with an empty field: if it contains names, write \"input\" there")
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
			"some fields to be normalized may be names: write a first line with the word input and the names of the " +
				"outputs, and begin each other line with the name of its input",
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

// isInput reports whether a field is the word "input" or "inputs", which begins a line of names.
func isInput(text string) bool {
	return strings.EqualFold(text, "input") || strings.EqualFold(text, "inputs")
}

// differentWholes reports whether all fields are integers without a decimal point, and all are different.
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

// mayBeNames reports whether the first fields of the lines, or the fields of the first line, are numbers that rise
// in steps of 1, as names often do.
func (t *table) mayBeNames() bool {
	column := make([]string, len(t.lines))
	for i, line := range t.lines {
		column[i] = line[0]
	}
	return counting(column) || counting(t.lines[0])
}

// counting reports whether there are at least two texts, and each is a number one larger than the text before it.
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

// numeric reports whether a text is meant as a number, even a malformed one. Such a text is never a name, because
// taking it for a name could hide an error.
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
