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

// townQuestion is a question of the tour about the town.
type townQuestion struct {
	why string
	ask curator.Question
	// truth returns the exact answer in words. If it is nil, the tour only explains the question.
	truth func(town.Town) string
}

// aboutPeople lists the demo's questions about the town's people, in order.
var aboutPeople = []townQuestion{
	{
		why: "Are voters older? One question, two groups.",
		ask: curator.Question{
			SQL: "SELECT voted, COUNT(*) AS adults, AVG(age) AS age FROM people WHERE age >= 18 GROUP BY voted",
		},
		truth: trueVoters,
	},
	{
		why: "This week's polls, east and west. A person is in only one cell, so all cells together cost as much as " +
			"one.",
		ask: curator.Question{
			SQL: "SELECT region, party, COUNT(*) AS adults FROM people\nWHERE age >= 18 AND region IN ('east', 'west')\n" +
				"GROUP BY region, party HAVING party IS NOT NULL",
		},
		truth: truePolls,
	},
	{
		why: "How many people have each age? The 116 cells cost as much as one, because a person changes only " +
			"one of them, by 1.",
		ask: curator.Question{SQL: histogram},
	},
	{
		why:   "Every 20th of these cells. The others were released too, and are free.",
		ask:   curator.Question{SQL: histogram},
		truth: trueAges,
	},
	{
		why: "A small cell of a census: a handful of people at most, and the noise hides each of them.",
		ask: curator.Question{
			SQL: "SELECT COUNT(*) AS asian_in_group_quarters FROM people WHERE group_quarters AND race = 'asian'",
		},
		truth: trueSmallCell,
	},
}

// aboutVisits lists the demo's questions about the town's visits. The second has a bad cap.
var aboutVisits = []townQuestion{
	{
		why: "How many visits to the clinic were there? A person counts with at most 30 visits, which is enough for\n" +
			"almost everybody.",
		ask:   curator.Question{SQL: "SELECT COUNT(*) AS visits FROM visits"},
		truth: trueVisits,
	},
	{
		why: "What does a bad cap do? With at most 2 visits of a person there is less noise, but the answer is far\n" +
			"too low, and its interval cannot show that. A share of the price finds it out.",
		ask:   curator.Question{SQL: "SELECT COUNT(*) AS visits FROM visits", MaxRows: "2", Truncation: "10%"},
		truth: trueVisits,
	},
}

// town runs the part of the tour on a made-up town, in a new folder.
func (t *guide) town(home string) error {
	made, err := town.New(tourPeople, tourSeed)
	if err != nil {
		return err
	}
	if _, _, err := build(made, town.CSV, home); err != nil {
		return err
	}
	c, err := curator.Open(home)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	t.Print("\nA town of %d people (`dither demo data --rows %d` creates it for experiments). All of them are made up,\n"+
		"so the tour may state the exact numbers below the noisy ones.\n", tourPeople, tourPeople)
	for _, part := range []struct {
		table     string
		questions []townQuestion
	}{{"people", aboutPeople}, {"visits", aboutVisits}} {
		if _, err := t.seal(c, part.table); err != nil {
			return err
		}
		for _, q := range part.questions {
			t.Print("\n%s\n", q.why)
			if err := t.show(c, q.ask, q.truth == nil); err != nil {
				return err
			}
			if q.truth != nil {
				t.Print("in truth: %s\n", q.truth(made))
			}
		}
	}
	return nil
}
