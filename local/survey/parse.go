package survey

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"dither/internal/exact"
	"dither/local"
	"dither/local/mean"
	"dither/privacy"
)

// Limits of a declaration.
const (
	MaxFile  = 16 << 20 // bytes
	maxNamed = 1 << 20  // values with names
	maxText  = 1 << 10  // bytes of a name or a value
	maxBound = 40       // characters of the bounds of a number

	maxNumber = 1_000_000_000_000_000_000
)

// Parse reads a declaration in YAML. Unknown keys, keys that are there twice, anchors and invalid values are errors.
// Numbers and words are read from their text, so that no word becomes true or false. The error is ErrSurvey.
func Parse(text []byte) (s *Survey, err error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrSurvey, MaxFile)
	}
	in := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	if err := in.Decode(&document); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrSurvey, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := in.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: there is more than one document", ErrSurvey)
	}
	if len(document.Content) != 1 {
		return nil, fmt.Errorf("%w: it is empty", ErrSurvey)
	}
	s = &Survey{Reports: 1}
	if err := s.read(document.Content[0]); err != nil {
		return nil, err
	}
	return s, s.seal()
}

func wrong(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrSurvey, n.Line, fmt.Sprintf(format, args...))
}

// fields reads a mapping: each key has a function for its value.
func fields(n *yaml.Node, what string, required []string, of map[string]func(*yaml.Node) error) error {
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		return wrong(n, "%s is a mapping without anchors", what)
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := of[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "" || !ok:
			return wrong(key, "%s has no key %s", what, shown(key.Value))
		case seen[key.Value]:
			return wrong(key, "the key %s is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := read(value); err != nil {
			return err
		}
	}
	for _, name := range required {
		if !seen[name] {
			return wrong(n, "%s has no %s", what, name)
		}
	}
	return nil
}

// scalar returns the text of a scalar.
func scalar(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" {
		return "", wrong(n, "%s is a single value without anchors", what)
	}
	if n.Value == "" || len(n.Value) > maxText || !utf8.ValidString(n.Value) || strings.ContainsFunc(n.Value, unicode.IsControl) {
		return "", wrong(n, "%s is a text of 1 to %d bytes without control characters", what, maxText)
	}
	return n.Value, nil
}

// whole returns a scalar that is a whole number.
func whole(n *yaml.Node, what string, least, most int64) (int64, error) {
	text, err := scalar(n, what)
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil || x < least || x > most {
		return 0, wrong(n, "%s is a whole number from %d to %d", what, least, most)
	}
	return x, nil
}

// duration returns a scalar such as 90s, 5m, 24h or 7d.
func duration(n *yaml.Node, what string, most time.Duration) (time.Duration, error) {
	text, err := scalar(n, what)
	if err != nil {
		return 0, err
	}
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[text[len(text)-1]]
	x, err := strconv.ParseInt(text[:len(text)-1], 10, 32)
	if unit == 0 || err != nil || x < 0 || time.Duration(x) > most/unit {
		return 0, wrong(n, "%s is a duration such as 90s, 5m, 24h or 7d, and at most %dd", what, most/(24*time.Hour))
	}
	return time.Duration(x) * unit, nil
}

func instant(n *yaml.Node, what string) (time.Time, error) {
	text, err := scalar(n, what)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Nanosecond() != 0 || t.Year() < 1970 {
		return time.Time{}, wrong(n, "%s is a time such as 2026-12-01T00:00:00Z", what)
	}
	return t, nil
}

// name returns a scalar that is a name.
func name(n *yaml.Node, what string) (string, error) {
	text, err := scalar(n, what)
	if err != nil {
		return "", err
	}
	if !named(text) {
		return "", wrong(n, "%s has 1 to 64 letters a to z, digits, _ or -", what)
	}
	return text, nil
}

// named reports whether a text is a valid name.
func named(text string) bool {
	outside := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, outside)
}

// into stores what a reader of a value returns.
func into[T any](to *T, read func(*yaml.Node) (T, error)) func(*yaml.Node) error {
	return func(n *yaml.Node) (err error) {
		*to, err = read(n)
		return err
	}
}

const (
	month   = 31 * 24 * time.Hour
	century = 36525 * 24 * time.Hour
)

func (s *Survey) read(n *yaml.Node) error {
	integer := func(what string, least, most int64) func(*yaml.Node) (int64, error) {
		return func(n *yaml.Node) (int64, error) { return whole(n, what, least, most) }
	}
	var form int64
	err := fields(n, "a survey", []string{"survey", "name", "version", "questions"}, map[string]func(*yaml.Node) error{
		"survey":  into(&form, integer("survey, the version of this form,", FormVersion, FormVersion)),
		"name":    into(&s.Name, func(n *yaml.Node) (string, error) { return name(n, "name") }),
		"version": into(&s.Version, integer("version", 1, 1<<31)),
		"window": func(n *yaml.Node) error {
			err := fields(n, "window", nil, map[string]func(*yaml.Node) error{
				"opens":  into(&s.Opens, func(n *yaml.Node) (time.Time, error) { return instant(n, "opens") }),
				"closes": into(&s.Closes, func(n *yaml.Node) (time.Time, error) { return instant(n, "closes") }),
				"skew":   into(&s.Skew, func(n *yaml.Node) (time.Duration, error) { return duration(n, "skew", month) }),
			})
			if err == nil && !s.Closes.IsZero() && !s.Closes.After(s.Opens) {
				err = wrong(n, "closes must be after opens")
			}
			return err
		},
		"lifetime": func(n *yaml.Node) error {
			return fields(n, "lifetime", []string{"reports"}, map[string]func(*yaml.Node) error{
				"reports": into(&s.Reports, integer("reports", 1, MaxReports)),
			})
		},
		"retention": func(n *yaml.Node) error {
			return fields(n, "retention", []string{"fold"}, map[string]func(*yaml.Node) error{
				"fold": into(&s.Fold, func(n *yaml.Node) (time.Duration, error) {
					d, err := duration(n, "fold", century)
					if err == nil && d == 0 {
						err = wrong(n, "fold is above 0: reports become counts at most an hour and a quarter after that age")
					}
					return d, err
				}),
			})
		},
		"questions": s.readQuestions,
	})
	if err != nil || s.Fold == 0 {
		return err
	}
	return s.foldable(n)
}

// mostFoldedSteps limits the steps of folding a million reports: some hours of a processor.
const mostFoldedSteps = 1 << 40

// foldable checks that reports of the survey can become counts. The keys of a survey come in any order, so it is
// checked after all of them.
func (s *Survey) foldable(n *yaml.Node) error {
	for i := range s.Questions {
		q := &s.Questions[i]
		if q.Oracle == nil {
			continue
		}
		if q.Oracle.Params().Values > local.MaxValues || q.Oracle.FoldingSteps(1<<20) > mostFoldedSteps {
			return wrong(n, "retention cannot fold the reports of question %s: %s takes a step for each report and each of "+
				"%d values: for retention, use flh or hr, or at most %d values", q.Name, q.Mechanism(), q.Oracle.Params().Values,
				mostFoldedSteps>>20)
		}
	}
	return nil
}

func (s *Survey) readQuestions(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" || len(n.Content) == 0 || len(n.Content) > MaxQuestions {
		return wrong(n, "questions is a list of 1 to %d questions", MaxQuestions)
	}
	for _, item := range n.Content {
		q, err := readQuestion(item)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(s.Questions, func(other Question) bool { return other.Name == q.Name }) {
			return wrong(item, "there are two questions %s", q.Name)
		}
		s.Questions = append(s.Questions, q)
	}
	return nil
}

func readQuestion(n *yaml.Node) (q Question, err error) {
	var p local.Params
	var seed, positions int64
	epsilon := func(what string) func(*yaml.Node) (privacy.Epsilon, error) {
		return func(n *yaml.Node) (privacy.Epsilon, error) {
			text, err := scalar(n, what)
			if err != nil {
				return privacy.Epsilon{}, err
			}
			e, err := privacy.ParseEpsilon(text)
			if err != nil {
				return e, wrong(n, "%s is a positive decimal number: %v", what, err)
			}
			return e, nil
		}
	}
	err = fields(n, "a question", []string{"name"}, map[string]func(*yaml.Node) error{
		"name":      into(&q.Name, func(n *yaml.Node) (string, error) { return name(n, "the name of a question") }),
		"text":      into(&q.Text, func(n *yaml.Node) (string, error) { return scalar(n, "text") }),
		"values":    func(n *yaml.Node) error { return q.readValues(n, &p.Values) },
		"bounds":    q.readBounds,
		"mechanism": into(&p.Mechanism, func(n *yaml.Node) (string, error) { return scalar(n, "mechanism") }),
		"epsilon":   into(&p.Epsilon, epsilon("epsilon")),
		"first":     into(&p.First, epsilon("first")),
		"seed":      into(&seed, func(n *yaml.Node) (int64, error) { return whole(n, "seed", 0, 1<<53-1) }),
		"positions": into(&positions, func(n *yaml.Node) (int64, error) { return whole(n, "positions", 1, 1<<12) }),
	})
	if err != nil {
		return q, err
	}
	if q.low != nil || p.Values == 0 {
		return q, q.ofNumbers(n, p, seed, positions)
	}
	p.Seed, p.Positions = uint64(seed), uint64(positions)
	if p.Mechanism == "" {
		return q, wrong(n, "question %s has no mechanism: krr suits few values, oue or flh more, and hr very many", q.Name)
	}
	if coin := p.Mechanism == "coin"; coin != p.Epsilon.IsZero() {
		return q, wrong(n, "a question has an epsilon, except with the mechanism coin, whose ε is ln 3")
	}
	if q.Oracle, err = local.New(p); err != nil {
		return q, wrong(n, "question %s: %s", q.Name, strings.TrimPrefix(err.Error(), local.ErrParameter.Error()+": "))
	}
	return q, nil
}

// readBounds reads the smallest and the largest number of a question about numbers.
func (q *Question) readBounds(n *yaml.Node) (err error) {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" || len(n.Content) != 2 {
		return wrong(n, "bounds is a list of two numbers, the smaller one first")
	}
	if q.Low, err = scalar(n.Content[0], "a bound"); err != nil {
		return err
	}
	if q.High, err = scalar(n.Content[1], "a bound"); err != nil {
		return err
	}
	if err := q.bound(); err != nil {
		return wrong(n, "%v", err)
	}
	return nil
}

// bound parses Low and High.
func (q *Question) bound() (err error) {
	if q.low, err = exact.ParseDecimal(q.Low); err == nil {
		q.high, err = exact.ParseDecimal(q.High)
	}
	limit := big.NewRat(maxNumber, 1)
	if err == nil { // devices compute with floats
		low, _ := q.low.Float64()
		high, _ := q.high.Float64()
		if low >= high {
			err = errors.New("they are too close")
		}
	}
	if err != nil || len(q.Low) > maxBound || len(q.High) > maxBound ||
		new(big.Rat).Abs(q.low).Cmp(limit) > 0 || new(big.Rat).Abs(q.high).Cmp(limit) > 0 {
		return fmt.Errorf("bounds are two decimal numbers, the smaller one first, of at most %d characters and from −10¹⁸ to 10¹⁸",
			maxBound)
	}
	return nil
}

// ofNumbers completes a question about numbers.
func (q *Question) ofNumbers(n *yaml.Node, p local.Params, seed, positions int64) (err error) {
	switch {
	case q.low == nil:
		return wrong(n, "a question has values, or bounds for a number")
	case p.Values != 0:
		return wrong(n, "question %s has values and bounds: give one of them", q.Name)
	case seed != 0 || positions != 0 || !p.First.IsZero():
		return wrong(n, "question %s is about a number, without seed, first and positions", q.Name)
	case !slices.Contains(mean.Mechanisms, mean.Mechanism(p.Mechanism)):
		return wrong(n, "question %s has bounds, so its mechanism is duchi, piecewise or hybrid", q.Name)
	}
	q.Numbers, err = mean.New(mean.Params{Mechanism: mean.Mechanism(p.Mechanism), Epsilon: p.Epsilon})
	if err != nil {
		return wrong(n, "question %s: %s", q.Name, strings.TrimPrefix(err.Error(), mean.ErrParameter.Error()+": "))
	}
	return nil
}

// readValues reads a list of values, or their number.
func (q *Question) readValues(n *yaml.Node, k *uint64) error {
	if n.Kind == yaml.ScalarNode {
		x, err := whole(n, "values is a list of texts, or the number k of the values 0 … k − 1, which", 2, local.MaxHashedValues)
		*k = uint64(max(x, 0))
		return err
	}
	if n.Kind != yaml.SequenceNode || n.Anchor != "" || len(n.Content) > maxNamed {
		return wrong(n, "values is a list of at most %d texts, or the number k of the values 0 … k − 1", maxNamed)
	}
	q.index = make(map[string]uint64, len(n.Content))
	q.Values = []string{}
	for _, item := range n.Content {
		text, err := scalar(item, "a value")
		if err != nil {
			return err
		}
		if _, twice := q.index[text]; twice {
			return wrong(item, "the value %s is there twice", shown(text))
		}
		q.index[text] = uint64(len(q.Values))
		q.Values = append(q.Values, text)
	}
	*k = uint64(len(q.Values))
	return nil
}
