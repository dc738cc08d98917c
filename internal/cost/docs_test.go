package cost_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dither/internal/cost"
	"dither/internal/free"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/post"
	"dither/internal/query"
	"dither/internal/value"
)

// documented are the questions that a page shows: statements in blocks of SQL, and those that stand in quotes in
// commands, programs and JSON. What has an ellipsis is a pattern of questions, and none itself.
func documented(page string) (out []string) {
	add := func(sql string) {
		if !strings.Contains(sql, "…") {
			out = append(out, sql)
		}
	}
	block := regexp.MustCompile("(?s)```sql\n(.*?)```")
	begins := regexp.MustCompile(`^(SELECT|WITH)\b`)
	for _, m := range block.FindAllStringSubmatch(page, -1) {
		if !begins.MatchString(m[1]) { // a grammar, or what the owner of a server writes
			continue
		}
		var statement []string
		for _, line := range append(strings.Split(m[1], "\n"), "") {
			if (line == "" || begins.MatchString(line)) && len(statement) > 0 {
				add(strings.Join(statement, "\n"))
				statement = nil
			}
			if line != "" {
				statement = append(statement, line)
			}
		}
	}
	rest := strings.ReplaceAll(block.ReplaceAllString(page, ""), "\\\n", "\n") // a shell joins these lines
	for _, quoted := range []string{`'((?:SELECT|WITH)\s[^']*)'`, `"((?:SELECT|WITH)\s[^"]*)"`} {
		for _, m := range regexp.MustCompile(quoted).FindAllStringSubmatch(rest, -1) {
			add(m[1])
		}
	}
	return out
}

// documentedCost is the cost of a question by the door that answers it: as SQL, or as rows of coordinates.
func documentedCost(p *policy.Policy, sql string) (cost.Cost, error) {
	sql, _, _ = query.AtInstant(sql, func() int64 { return p.Clock.Now(time.Date(2025, time.June, 30, 0, 0, 0, 0, time.UTC)) })
	r := plan.Request{SQL: sql}
	q, err := plan.Build(p, r)
	if err == nil {
		return cost.Of(p, q.AllLooks()...), nil
	}
	if a, e := free.Of(p, sql); e == nil && a != nil { // it reads no rows
		return cost.Cost{}, nil
	}
	if strings.Contains(sql, "(") { // it has aggregates
		return costOfAnswers(p, sql, err)
	}
	t, asRows := plan.BuildRows(p, r)
	if asRows != nil {
		return cost.Cost{}, err
	}
	return cost.Of(p, &t.Statement), nil
}

// costOfAnswers is the cost of the dearest measured question of one that computes with answers.
func costOfAnswers(p *policy.Policy, sql string, refused error) (dearest cost.Cost, err error) {
	tree, err := query.Parse(sql)
	if err != nil {
		return dearest, err
	}
	has := func(of *query.Select, name string) bool { return plan.HasColumn(p, of, name) }
	_, err = post.Several(tree, post.Parts{Has: has, Measure: func(part *post.Program) (out post.Answer, err error) {
		q, err := plan.Build(p, plan.Request{SQL: part.Measured.String()})
		if err != nil {
			return out, err
		}
		if c := cost.Of(p, q.AllLooks()...); c.Steps > dearest.Steps {
			dearest = c
		}
		for _, o := range q.Outputs {
			c := post.Column{Name: o.Name, Type: value.Real, Noisy: true}
			if o.Post == nil {
				c.Type, c.Noisy = q.Keys[o.Key].Expr.Type, false
			}
			out.Columns = append(out.Columns, c)
		}
		return out, nil
	}})
	if err != nil {
		return dearest, errors.Join(refused, err)
	}
	return dearest, nil
}

// ownPolicy are tutorials whose tables are in policies of their own. Scripts of the command line run their questions.
var ownPolicy = []string{"stream.md", "together.md", "workload.md"}

// Every question that README and the pages in docs show is answered by a policy that it is about, and is within half
// of the default limit on cost.
func TestUnitCostOfDocs(t *testing.T) {
	var policies []*policy.Policy
	for _, file := range []string{"testdata/docs.yaml", "../../examples/randhie/policy.yaml", "../town/policy.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		town := strings.NewReplacer("FORMAT", "csv", "PEOPLE", "1000", "VISITS", "3000", "ROWS_PER_UNIT", "25")
		p := costPolicy(t, town.Replace(string(text))).Filled(func(policy.Origin) ([]value.Value, int, string) {
			return []value.Value{value.OfText("x"), value.OfText("y")}, 1, ""
		})
		if p.MostUnitCost() != policy.LeastUnitCost {
			t.Errorf("%s: the limit is %d", file, p.MostUnitCost())
		}
		policies = append(policies, p)
	}
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found, dearest := 0, int64(0)
	for _, page := range append(pages, "../../README.md") {
		if slices.Contains(ownPolicy, filepath.Base(page)) {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range documented(string(text)) {
			answered := false
			var refusals []error
			for _, p := range policies {
				cost, err := documentedCost(p, sql)
				if err != nil {
					refusals = append(refusals, err)
					continue
				}
				answered, dearest = true, max(dearest, cost.Steps)
				if cost.Steps > policy.LeastUnitCost/2 {
					t.Errorf("%s: %s steps: %s", page, plan.Thousands(cost.Steps), sql)
				}
			}
			if found++; !answered {
				t.Errorf("%s: %s is refused: %v", page, sql, refusals)
			}
		}
	}
	t.Logf("%d questions, of which the dearest costs %s steps", found, plan.Thousands(dearest))
	if found < 25 {
		t.Errorf("%d questions", found)
	}
}
