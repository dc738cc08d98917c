package timing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dither/curator"
	"dither/internal/splitmix"
)

// Question is a class of questions, represented by one of them.
type Question struct {
	Name, SQL string
	Worst     bool  // generated, with the largest cost that the policy admits
	Steps     int64 // the largest cost that one unit can cause, by the plan
}

// Control is the class whose two homes are equal. Any measured difference is an error of the method.
const Control = "control"

// Planted is a class that no policy should admit: it joins a unit's four rows with each other into 4⁹ rows.
const Planted = "planted"

// fixed returns questions that analysts typically ask.
func fixed() []Question {
	return []Question{
		{Name: "count", SQL: "SELECT COUNT(*) FROM visits"},
		{Name: "groups", SQL: "SELECT kind, COUNT(*), AVG(days) FROM visits WHERE age > 30 GROUP BY kind"},
		{Name: "median", SQL: "SELECT MEDIAN(age) FROM visits"},
		{
			Name: "persons",
			SQL: "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS n, MAX(day) AS last FROM visits GROUP BY pid) " +
				"AS p WHERE n > 3",
		},
		{Name: "like", SQL: "SELECT COUNT(*) FROM visits WHERE note LIKE '%special%requests%'"},
	}
}

// Names returns the names of all classes, or only those of Planted and Control.
func Names(plantedOnly bool) (out []string) {
	if plantedOnly {
		return []string{Planted, Control}
	}
	for _, q := range fixed() {
		out = append(out, q.Name)
	}
	for _, t := range templates(0) {
		out = append(out, t.name)
	}
	return append(out, Control)
}

// template returns a question for each size n.
type template struct {
	name string
	sql  func(n int) string
}

// templates returns the forms of generated questions: many exponentials, many patterns that match long texts as far
// as possible, joins of a person's rows, and mixtures of these. The seed determines the mixtures.
func templates(seed uint64) []template {
	several := func(n int, term func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = term(i)
		}
		return strings.Join(all, " OR ")
	}
	exp := func(i int) string { return fmt.Sprintf("EXP(v1.age / 9) > 9999999%d", i) }
	one := "SELECT COUNT(*) FROM visits AS v1 WHERE "
	two := "SELECT COUNT(*) FROM visits AS v1 JOIN visits AS v2 ON v1.pid = v2.pid WHERE "
	out := []template{
		{"worst-exp", func(n int) string { return one + several(n, exp) }},
		{"worst-like", func(n int) string {
			return one + several(n, func(i int) string { return fmt.Sprintf("v1.note LIKE '%%xxxxxxxx%dy%%'", i) })
		}},
		{"worst-join", func(n int) string { return two + "v1.days < v2.days AND (" + several(n, exp) + ")" }},
	}
	for m := range mixtures {
		draws := splitmix.At(splitmix.Mix(seed) + uint64(m))
		from := one
		if draws.Below(2) == 1 {
			from = two
		}
		words := make([]uint64, 64)
		for i := range words {
			words[i] = draws.Word()
		}
		out = append(out, template{fmt.Sprintf("worst-mixed-%d", m+1), func(n int) string {
			return from + several(n, func(i int) string { return term(words[i%len(words)], i) })
		}})
	}
	return out
}

const mixtures = 2

// term returns condition i of a mixture. word is random, and determines the condition.
func term(word uint64, i int) string {
	switch word % 6 {
	case 0:
		return fmt.Sprintf("EXP(v1.age / %d) > 9999999%d", 9+word>>8%50, i)
	case 1:
		return fmt.Sprintf("v1.note LIKE '%%%s%dy%%'", strings.Repeat("x", int(1+word>>8%16)), i)
	case 2:
		return fmt.Sprintf("SQRT(v1.age * %d) > %d", 1+word>>8%9, 9000+i)
	case 3:
		return fmt.Sprintf("EXTRACT(month FROM v1.day) * 100 + %d < 7", i)
	case 4:
		return fmt.Sprintf("LN(v1.age + %d) > %d", 1+i, 20+word>>8%9)
	}
	return fmt.Sprintf("ABS(v1.days - %d) > %d", word>>8%1000, 2000+i)
}

// mostTerms is the largest number of terms in a generated question.
const mostTerms = 1000

// questions returns all classes with their costs. For each template it returns the largest question that the policy
// admits. The result depends on the policy and the seed only.
func questions(ctx context.Context, c *curator.Owner, seed uint64) ([]Question, error) {
	out := fixed()
	for i, q := range out {
		e, err := c.Explain(ctx, curator.Question{SQL: q.SQL, Epsilon: Price})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.SQL, err)
		}
		out[i].Steps = e.Work.Steps
	}
	for _, t := range templates(seed) {
		var best Question
		for low, high := 1, mostTerms; low <= high; {
			n := (low + high) / 2
			e, err := c.Explain(ctx, curator.Question{SQL: t.sql(n), Epsilon: Price})
			if err != nil { // the policy's cost limit, or another limit on statements, refuses this size
				high = n - 1
				continue
			}
			best, low = Question{Name: t.name, SQL: t.sql(n), Worst: true, Steps: e.Work.Steps}, n+1
		}
		if best.Name == "" {
			continue // the policy refuses even the smallest size
		}
		out = append(out, best)
	}
	return out, ctx.Err()
}

// Legal returns the questions that are measured under the default policy, and that policy's limit on the cost of
// one unit. It returns an error if the default policy admits the planted question.
func Legal(ctx context.Context, folder string, seed uint64) (all []Question, limit int64, err error) {
	h, err := Where{Rows: 1, Unit: 1, Folder: folder}.make(ctx, "legal", true)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	if all, err = questions(ctx, h.Owner, seed); err != nil {
		return nil, 0, err
	}
	if refused, err := planted(ctx, h.Owner); err == nil {
		return nil, 0, fmt.Errorf("defect: the policy admits %q", refused[0].SQL)
	}
	e, err := h.Explain(ctx, curator.Question{SQL: all[0].SQL, Epsilon: Price})
	if err != nil {
		return nil, 0, err
	}
	return all, e.Work.Limit, nil
}

// planted returns the planted question, or the refusal of a policy with the usual limit.
func planted(ctx context.Context, c *curator.Owner) ([]Question, error) {
	var b strings.Builder
	b.WriteString("WITH s AS (SELECT pid, age FROM visits WHERE pid = 1 AND married) SELECT COUNT(*) FROM s AS v1")
	for i := 2; i <= plantedJoins; i++ {
		fmt.Fprintf(&b, " JOIN s AS v%d ON v1.pid = v%d.pid", i, i)
	}
	// each condition uses the last tables, so that no engine can evaluate it before the joins
	for i := range plantedCurves {
		word := "OR"
		if i == 0 {
			word = "WHERE"
		}
		fmt.Fprintf(&b, " %s EXP((v1.age + v%d.age) / 18) > 9999999%d", word, plantedJoins-i%(plantedJoins-1), i)
	}
	e, err := c.Explain(ctx, curator.Question{SQL: b.String(), Epsilon: Price})
	if err != nil {
		return nil, err
	}
	return []Question{{Name: Planted, SQL: b.String(), Worst: true, Steps: e.Work.Steps}}, nil
}

const (
	plantedJoins  = 9
	plantedCurves = 40
)
