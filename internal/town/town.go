// Package town makes up a town to experiment with: people and their visits to its clinic, of any number, from a seed.
//
// Nobody in it is real, so everything about it may be shown: exact answers beside noisy ones, and the effect of one
// person's row. It is no substitute for data about people, and its draws are no noise: nothing that handles private
// rows may import this package.
//
// # Determinism
//
// A person and that person's visits are a function of the seed and the person's number, and of nothing else. So the same seed
// and size make the same bytes; the first 1,000 people of a town of 10,000 are the town of 1,000, which makes towns of n and
// n + 1 people neighbours; and no more than one row is held at a time. Draws and values are integers throughout (see stream):
// floating point, whose products some processors fuse, takes no part, so that every machine makes the same town.
//
// # What is true in the town
//
// It holds what lectures on differential privacy talk about:
//
//   - Smoking and cancer. Of the smokers from 35 on one in seven has lung cancer, of the others one in 125. Whoever
//     learns that smoking causes cancer learns something about each smoker, whether or not that smoker is in the data.
//   - Voters and non-voters. Turnout rises with age until 80, and is higher among Republicans than Democrats, and lowest among
//     others: the average ages of voters and of grown-up non-voters are some ten years apart.
//   - Polls. Party differs by region: the north leans to the Democrats, the south to the Republicans. Each person is in one
//     region and one party, so all the counts of a poll cost what one does.
//   - The census's small cells. Dormitories and homes for the old, the group quarters, hold less than two people in a
//     hundred, and of the Asian minority one in a thousand: that cell's count is so small that each of them shows.
//   - Skew. Incomes are log-normal, and one in 500 is twenty times as large: a few people move any mean, and bounds decide
//     what a sum costs. Heights are about normal at each age.
//   - People with many rows. Nine in ten have 0 to 5 visits, one in a thousand has 20 to 5,000, and a quarter of all visits
//     are theirs: counting at most 20 of each loses that, and is what protects them like all others. Older people and smokers
//     come more often, and to other departments.
//
// Some cells are empty, as in life: the party of minors and of who would not say, some incomes, smokers' answers, heights (in
// CSV some of these read "n/a") and costs.
package town

import (
	"fmt"
	"iter"
)

// MaxPeople is the largest town.
const MaxPeople = 100_000_000

// Town is a town of a number of people, numbered from 1. Its methods may be called from several goroutines.
type Town struct {
	people int64
	seed   uint64
}

// New plans a town of 1 to MaxPeople people. Nothing is drawn yet.
func New(people int64, seed uint64) (Town, error) {
	if people < 1 || people > MaxPeople {
		return Town{}, fmt.Errorf("a town has 1 to %d people, not %d", MaxPeople, people)
	}
	return Town{people, seed}, nil
}

// Size is the number of people.
func (t Town) Size() int64 { return t.people }

// People yields each person, in the order of their numbers.
func (t Town) People() iter.Seq[Person] {
	return func(yield func(Person) bool) {
		for id := int64(1); id <= t.people; id++ {
			if !yield(t.Person(id)) {
				return
			}
		}
	}
}

// Answer is what a person said to a question that is answered by yes or no.
type Answer int

// The three answers.
const (
	No Answer = iota
	Yes
	NotSaid
)

// Unknown is a number that was not recorded: a NULL.
const Unknown = -1

// Person is one row of the table people.
type Person struct {
	ID            int64  // from 1
	Age           int    // in years, 0 to 115
	Party         string // "Democrats", "Republicans", "Other", or "" for none
	Region        string
	Income        int64 // a year's, in whole dollars; or Unknown
	Voted         bool
	Smoker        Answer
	LungCancer    bool
	Height        int // in millimetres, 500 to 2500; or Unknown
	GroupQuarters bool
	Race          string
}

// Visit is one row of the table visits.
type Visit struct {
	Person     int64 // whose
	Day        int   // since 1970-01-01; all within Year
	Department string
	Cost       int64 // in cents; or Unknown
}
