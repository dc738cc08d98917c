package golden

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/curator"
	"dither/internal/ledger"
	"dither/privacy"
)

// scarred is what a long life leaves in a home: answers of an earlier policy, of earlier neighbours and of an
// earlier version of a table, failures that the owner looked into and one since, a charge for another ledger, a
// write that a power cut tore, a question without an answer.
func scarred(t *testing.T, home string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	c := open(t, home)
	for _, sql := range []string{
		"SELECT COUNT(*) FROM people",
		"SELECT city, SUM(cost) FROM visits WHERE party = 'D' GROUP BY city",
	} {
		_, err := c.Answer(ctx, curator.Question{SQL: sql})
		must(err)
	}
	must(c.Close())
	fail := func() {
		c, err := curator.OpenWith(home, curator.Options{Timeout: 1})
		must(err)
		if _, err := c.Answer(ctx, curator.Question{SQL: "SELECT AVG(income) FROM people"}); err == nil {
			t.Fatal("no failure")
		}
		must(c.Close())
	}
	fail()
	l, err := ledger.Open(home, time.Now)
	must(err)
	must(l.Resume())
	e, err := privacy.ParseEpsilon("3.5")
	must(err)
	from := ledger.Origin{ID: strings.Repeat("4b", 16), Head: "12:" + strings.Repeat("0a", 32)}
	must(l.Opened(ledger.Opening{Loss: privacy.PureLoss(e), From: []ledger.Origin{from}}, l.Head()))
	must(l.Close())
	fail()
	log, err := os.OpenFile(filepath.Join(home, "ledger.log"), os.O_WRONLY|os.O_APPEND, 0)
	must(err)
	_, err = log.WriteString(`{"v":3,"n":1`)
	must(errors.Join(err, log.Close()))
	c = open(t, home)
	_, err = c.Answer(ctx, curator.Question{SQL: "SELECT COUNT(*) FROM visits", Epsilon: "0.3"})
	must(err)
	must(c.Close())
	file := filepath.Join(home, "policy.yaml")
	text, err := os.ReadFile(file)
	must(err)
	writeFile(t, home, "policy.yaml", strings.Replace(string(text), "add-remove", "change-one", 1))
	people := filepath.Join(home, "source.people.csv")
	rows, err := os.ReadFile(people)
	must(err)
	writeFile(t, home, "source.people.csv", string(rows)+"north,true,D,Kim,33,1200,160,1980-01-01\n")
	c = open(t, home)
	_, err = c.AcceptPolicy(ctx, false)
	must(err)
	_, err = c.Seal(ctx, "people", curator.SealOptions{})
	must(err)
	_, err = c.Above(ctx, curator.Threshold{
		Table: "people", Threshold: "5",
		Epsilon: "0.2",
	}) // which nothing is asked of
	must(err)
	must(c.Close())
}
