package synth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/strategy/together"
	"dither/synth/aim"
)

// Wanted is a question that synthetic rows should answer well: a count or sum over the table, with conditions and
// groups.
type Wanted struct {
	SQL    string
	Weight int64 // its importance, from 1 to MaxWeight; 0 is 1
	number int   // in messages; 0: its place in the workload
}

// The limits of a workload.
const (
	MaxWanted = curator.MaxGridQuestions
	MaxWeight = 1000
)

// wantedAnswer is what a question asks for: a marginal, and how many of its cells an answer adds up.
type wantedAnswer struct {
	set     []int
	weight  int64
	cells   float64 // that one answer adds up, in the mean
	answers float64
	sum     bool // of values, whose error is in other units than that of counts
}

// wantedAnswers reads the questions of the workload. It reads no row.
func (p *Plan) wantedAnswers(ctx context.Context, c *curator.Session) (out []wantedAnswer, err error) {
	if len(p.request.Workload) > MaxWanted {
		return nil, usage("", "a workload has at most %d questions, not %d", MaxWanted, len(p.request.Workload))
	}
	for i, w := range p.request.Workload {
		i = w.place(i)
		if w.Weight < 0 || w.Weight > MaxWeight {
			return nil, usage("", "question %d of the workload: a weight is between 1 and %d, not %d", i+1, MaxWeight, w.Weight)
		}
		g, err := c.Grid(ctx, []string{w.SQL}, p.rounds.Request) // each by itself, so that they may count and sum different things
		if err != nil {
			return nil, ofQuestion(i, err)
		}
		measure, where, ok := about(g.SQL, p.Table)
		if !ok {
			return nil, usage("ask about "+p.Table, "question %d of the workload is about another table: %s", i+1, g.SQL)
		}
		if where != "" { // beside all rows, a condition is a set of cells
			both := []string{w.SQL, measure + " FROM " + curator.SQLName(p.Table)}
			if beside, err := c.Grid(ctx, both, p.rounds.Request); err == nil {
				g, where = beside, ""
				g.Answers = slices.DeleteFunc(g.Answers, func(a curator.GridAnswer) bool { return a.Question > 0 })
			}
		}
		always, err := p.columnsIn(measure + " " + where)
		if err != nil {
			return nil, ofQuestion(i, err)
		}
		for _, a := range g.Answers {
			one := wantedAnswer{set: slices.Clone(always), weight: max(w.Weight, 1), cells: 1, answers: 1, sum: !strings.HasPrefix(strings.ToLower(measure), "select count(")}
			for k, column := range a.Columns {
				if column.All && !column.Grouped {
					continue
				}
				set, err := p.columnsIn(g.Keys[k])
				if err != nil {
					return nil, ofQuestion(i, err)
				}
				one.set = append(one.set, set...)
				all, part := float64(len(g.Values[k])), float64(len(column.Values))
				if column.All {
					part = all
				}
				if column.Grouped {
					one.answers, part = one.answers*part, 1
				}
				one.cells *= max(1, part/all*p.domain.Cells(set...))
			}
			slices.Sort(one.set)
			one.set = slices.Compact(one.set)
			if len(one.set) > aim.MaxWays {
				return nil, usage("", "question %d of the workload is about %d columns, more than %d", i+1, len(one.set), aim.MaxWays)
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// place returns the place of a question in its workload, which is at least i.
func (w *Wanted) place(i int) int {
	if w.number > 0 {
		return w.number - 1
	}
	return i
}

// ofQuestion adds the number of a question to an error.
func ofQuestion(i int, err error) error {
	var e *curator.Error
	if !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Message = fmt.Sprintf("question %d of the workload: %s", i+1, e.Message)
	return &told
}

// about returns what a question measures, and the condition of its rows, if it is about one table alone.
func about(sql, table string) (measure, where string, ok bool) {
	measure, rest, ok := strings.Cut(sql, " FROM "+curator.SQLName(table))
	if at := strings.LastIndex(rest, " GROUP BY "); at >= 0 {
		rest = rest[:at]
	}
	where, found := strings.CutPrefix(rest, " WHERE ")
	return measure, where, ok && (found || rest == "")
}

// columnsIn returns the columns that an expression in SQL names. Words that are no columns of the real table are
// functions and keywords.
func (p *Plan) columnsIn(sql string) (out []int, err error) {
	for _, word := range words(sql) {
		at := slices.IndexFunc(p.Columns, func(c *Column) bool { return word.is(c.Name) })
		missing := slices.IndexFunc(p.Omitted, func(o Omitted) bool { return word.is(o.Name) })
		switch {
		case at >= 0 && !slices.Contains(out, at):
			out = append(out, at)
		case at < 0 && missing >= 0:
			return nil, usage("leave the question out", "it is about %s, which the synthetic table lacks: %s",
				p.Omitted[missing].Name, p.Omitted[missing].Reason)
		case at < 0 && slices.ContainsFunc(p.unnamed, word.is):
			return nil, usage("leave the question out, or name the column", "it is about %s, which --columns leaves out", word.text)
		}
	}
	return out, nil
}

// word is a name or a keyword of a text in SQL.
type word struct {
	text         string
	quoted, call bool // call: it is the name of a function
}

func (w word) is(name string) bool {
	return !w.call && (w.text == name || !w.quoted && strings.EqualFold(w.text, name))
}

// words returns the names and keywords of a text in SQL, without its literals.
func words(sql string) (out []word) {
	letter := func(r byte) bool {
		return r == '_' || r >= 0x80 || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
	}
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"':
			var text strings.Builder
			for i++; i < len(sql); i++ {
				if sql[i] == c {
					if i+1 >= len(sql) || sql[i+1] != c {
						break
					}
					i++ // two quotes are one
				}
				text.WriteByte(sql[i])
			}
			if i++; c == '"' {
				out = append(out, word{text.String(), true, false})
			}
		case letter(c):
			from := i
			for i < len(sql) && letter(sql[i]) {
				i++
			}
			out = append(out, word{sql[from:i], false, i < len(sql) && sql[i] == '('})
		default:
			i++
		}
	}
	return out
}

// wanted returns the marginals of the workload, each once, with the sums of the weights of their questions.
func (p *Plan) wanted() (out []aim.Marginal) {
	places := map[string]int{}
	for _, a := range p.answers {
		at, known := places[name(a.set)]
		switch {
		case len(a.set) == 0: // every model has the number of rows
		case known:
			out[at].Weight = min(out[at].Weight+a.weight, aim.MaxWeight>>20)
		default:
			places[name(a.set)] = len(out)
			out = append(out, aim.Marginal{Attributes: a.set, Weight: a.weight})
		}
	}
	return out
}

// Direct compares the noise of a synthesis with that of measuring the questions of its workload themselves, at the same
// price. Both are root mean squares of standard deviations of answers, and follow from public numbers.
type Direct struct {
	Answers int
	// Measured is the error of the best known way to measure the questions together, as `dither workload -f` states it.
	Measured float64
	// Synthetic is the noise of answers from synthetic rows if their marginals are all that is measured, with equal
	// shares of the price. A model may have less noise where marginals overlap, and more error where they were not
	// measured.
	Synthetic float64
	Reason    string // why there is no comparison; "" if there is one
}

// Better reports whether measuring the questions has less noise.
func (d *Direct) Better() bool { return d.Reason == "" && d.Measured < d.Synthetic*0.999 }

// Compare compares the plan with measuring the questions of its workload themselves. It spends nothing, and reads no
// row. It returns nil without a workload.
func (p *Plan) Compare(ctx context.Context, c *curator.Session) (*Direct, error) {
	if len(p.answers) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to compare
	}
	out := &Direct{}
	b := together.Batch{Request: p.rounds.Request}
	b.SQL = ""
	for _, w := range p.request.Workload {
		b.Questions = append(b.Questions, w.SQL)
	}
	price, inRho := p.Price.Rho, true
	if price == "" {
		price, inRho = p.Price.Epsilon, false
	}
	marginals := float64(max(len(p.wanted()), 1))
	each, ok := new(big.Rat).SetString(price)
	if !ok {
		return nil, usage("", "the price %q is not a number", price)
	}
	s := &synthesis{Plan: p, inRho: inRho}
	sum, answers, sums := 0.0, 0.0, false
	for _, a := range p.answers {
		deviation := s.deviation(p.placeOf(a.set), each) * math.Sqrt(marginals)
		if !inRho {
			deviation *= math.Sqrt(marginals)
		}
		sums = sums || a.sum
		sum, answers = sum+a.answers*a.cells*deviation*deviation, answers+a.answers
	}
	out.Answers, out.Synthetic = int(min(answers, 1e15)), math.Sqrt(sum/answers)
	if sums {
		out.Reason = "sums and counts have errors in different units"
		return out, nil
	}
	of, err := together.Compare(ctx, c, b)
	var e *curator.Error
	switch {
	case errors.As(err, &e) && e.Code != curator.CodeHome:
		out.Reason = e.Message
	case err != nil:
		return nil, err
	case of.Measurable == nil:
		out.Reason = "no candidate fits into one measurement"
	default:
		out.Measured = of.Measurable.RMSE * of.Deviation
	}
	return out, nil
}

// placeOf returns the place of a marginal among the candidates. The number of rows stands for one that is not there.
func (p *Plan) placeOf(set []int) int {
	return max(0, slices.IndexFunc(p.candidates, func(s []int) bool { return slices.Equal(s, set) }))
}
