package attack

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// ReadCounts reads published counts from CSV. Each line is one question. It has a field for each person, 1 if the
// question counts the person and 0 if not, and then the answer. The first line is skipped as names of columns if
// its last field is not a number, and another field is neither 0 nor 1. It returns ErrTable for an invalid file, or
// the reader's own error.
func ReadCounts(r io.Reader) (*Counts, error) {
	var questions [][]bool
	var answers []float64
	first := true
	err := records(r, func(_ int, record []string) error {
		people := len(record) - 1
		header := first && named(record)
		if first = false; header {
			return nil
		}
		switch {
		case people < 1:
			return errors.New("a question needs a field for each person, and then its answer")
		case people > MostPeople:
			return fmt.Errorf("%d people are more than the limit, %d", people, MostPeople)
		case len(questions) == MostQuestions:
			return fmt.Errorf("there are more than %d questions", MostQuestions)
		}
		question := make([]bool, people)
		for j, text := range record[:people] {
			var err error
			if question[j], err = bitOf(text); err != nil {
				return fmt.Errorf("field %d: %w", j+1, err)
			}
		}
		answer, err := strconv.ParseFloat(record[people], 64)
		if err != nil || !(math.Abs(answer) <= farOff) {
			return fmt.Errorf("the answer, the last field, must be a number between -1e9 and 1e9, not %q",
				shortened(record[people]))
		}
		questions, answers = append(questions, question), append(answers, answer)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(questions) == 0 {
		return nil, fmt.Errorf("%w: it has no questions", ErrTable)
	}
	return NewCounts(questions, answers)
}

// named reports whether a line names the columns: its last field is not a number, and another field is neither 0
// nor 1.
func named(record []string) bool {
	last := len(record) - 1
	if _, err := strconv.ParseFloat(record[last], 64); err == nil {
		return false
	}
	return slices.ContainsFunc(record[:last], func(text string) bool { return text != "0" && text != "1" })
}

// ReadBits reads the true bits of all people from CSV: one 0 or 1 for each person, on any number of lines.
func ReadBits(r io.Reader) ([]bool, error) {
	var out []bool
	err := records(r, func(_ int, record []string) error {
		for _, text := range record {
			b, err := bitOf(text)
			if err != nil {
				return err
			}
			if out = append(out, b); len(out) > MostPeople {
				return fmt.Errorf("there are more than %d people", MostPeople)
			}
		}
		return nil
	})
	return out, err
}

func bitOf(text string) (bool, error) {
	switch text {
	case "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, fmt.Errorf("it must be 0 or 1, not %q", shortened(text))
}

// shortened returns the text, cut to 40 characters for a message.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}
