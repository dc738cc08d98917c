package tour

import (
	"dither/curator"
	"dither/internal/town"
)

// Size and seed of the town in the tour.
const (
	tourPeople = 20_000
	tourSeed   = 1
)

// histogram is a question with 116 cells. Its HAVING selects among released numbers, which is free.
const histogram = "SELECT age, COUNT(*) AS people FROM people GROUP BY age HAVING age IN (0, 20, 40, 60, 80, 100)"

// townTour lists the demo's questions about the town, in order.
var townTour = []struct {
	why, sql string
	explain  bool
}{
	{
		why: "Are voters older? One question, two groups.",
		sql: "SELECT voted, COUNT(*) AS adults, AVG(age) AS age FROM people WHERE age >= 18 GROUP BY voted",
	},
	{
		why: "This week's polls, east and west. A person is in only one cell, so all cells together cost as much as " +
			"one.",
		sql: "SELECT region, party, COUNT(*) AS adults FROM people\nWHERE age >= 18 AND region IN ('east', 'west')\n" +
			"GROUP BY region, party HAVING region IN ('east', 'west') AND party IS NOT NULL",
	},
	{
		why: "How many people have each age? The 116 cells cost as much as one, because a person changes only " +
			"one of them, by 1.",
		sql:     histogram,
		explain: true,
	},
	{
		why: "Every 20th of these cells. The others were released too, and are free.",
		sql: histogram,
	},
	{
		why: "A small cell of a census: a handful of people, and the noise hides each of them.",
		sql: "SELECT COUNT(*) AS asian_in_group_quarters FROM people WHERE group_quarters AND race = 'asian'",
	},
}

// town runs the part of the tour on a made-up town, in a new folder.
func (t *guide) town(home string) error {
	made, err := town.New(tourPeople, tourSeed)
	if err != nil {
		return err
	}
	_, visits, err := build(made, town.CSV, home)
	if err != nil {
		return err
	}
	c, err := curator.Open(home)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	t.Print("\nA town of %d people, all made up (`dither demo data --rows %d` creates it for experiments).\n",
		tourPeople, tourPeople)
	if _, err := t.seal(c, "people"); err != nil {
		return err
	}
	for _, q := range townTour {
		t.Print("\n%s\n", q.why)
		if err := t.show(c, q.sql, q.explain); err != nil {
			return err
		}
	}
	return t.cut(c, visits)
}

// cut shows what a bound on rows leaves out: it asks for the number of visits, and states the true number beside it.
func (t *guide) cut(c *curator.Owner, visits int64) error {
	if _, err := t.seal(c, "visits"); err != nil {
		return err
	}
	t.Print("\nHow many visits were there? A few people came nearly every day, and the line `bounds` says how many of\n" +
		"their visits count.\n")
	if err := t.show(c, "SELECT COUNT(*) AS visits FROM visits", false); err != nil {
		return err
	}
	t.Print("  in truth %s: these data are made up, so the tour may say it. The interval is around the bounded number,\n"+
		"  so it misses the true one. A higher rows_per_unit leaves out less, and adds noise.\n", curator.Thousands(visits))
	return nil
}
