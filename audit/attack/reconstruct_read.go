package attack

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// ReadCounts reads published counts from CSV: a line for each question, with 1 for each person who is counted and 0 for
// each who is not, and the answer as the last field. A first line that is neither and ends in no number names the
// columns, and is passed over. What is wrong is ErrTable, or the reader's own error.
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
			return errors.New("a question has a field for each person, and then its answer")
		case people > MostPeople:
			return fmt.Errorf("%d people are more than %d", people, MostPeople)
		case len(questions) == MostQuestions:
			return fmt.Errorf("more than %d questions", MostQuestions)
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
			return fmt.Errorf("the answer, the last field, is a number of at most 1e9 either way, not %q",
				shortened(record[people]))
		}
		questions, answers = append(questions, question), append(answers, answer)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(questions) == 0 {
		return nil, fmt.Errorf("%w: it holds no questions", ErrTable)
	}
	return NewCounts(questions, answers)
}

// named reports a line that ends in no number, and has a field before that is no bit.
func named(record []string) bool {
	last := len(record) - 1
	if _, err := strconv.ParseFloat(record[last], 64); err == nil {
		return false
	}
	return slices.ContainsFunc(record[:last], func(text string) bool { return text != "0" && text != "1" })
}

// ReadBits reads each person's true bit from CSV: as many 0 and 1, on however many lines.
func ReadBits(r io.Reader) ([]bool, error) {
	var out []bool
	err := records(r, func(_ int, record []string) error {
		for _, text := range record {
			b, err := bitOf(text)
			if err != nil {
				return err
			}
			if out = append(out, b); len(out) > MostPeople {
				return fmt.Errorf("more than %d people", MostPeople)
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
	return false, fmt.Errorf("it is 0 or 1, not %q", shortened(text))
}

// shortened is a text as messages quote it.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}
