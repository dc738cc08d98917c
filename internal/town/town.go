// Package town makes up a town for experiments: people and their visits to its clinic, in any number, from a seed.
//
// Nobody in the town is real, so exact answers may be shown beside noisy ones, and so may the effect of one
// person's row. The town is no substitute for data about people. Its draws are predictable, so they are no noise:
// no package that handles private rows may import this package.
//
// # Determinism
//
// A person and that person's visits are determined by the seed and the person's number. This has three
// consequences. The same seed and size give the same bytes. The first 1,000 people of a town of 10,000 are the town
// of 1,000, so towns of n and n + 1 people are neighbours. Only one row is in memory at a time. All draws and
// values are integers (see stream). Floating point is avoided because some processors fuse multiplication and
// addition, so every machine makes the same town.
//
// # Facts about the town
//
// The town contains the standard examples of lectures on differential privacy:
//
//   - Smoking and cancer. Of the smokers aged 35 or more, one in seven has lung cancer; of the others, one in 125.
//     A study that finds this link reveals something about each smoker, even those who are not in the data.
//   - Voters and non-voters. Turnout rises with age until 80. It is higher among Republicans than among Democrats,
//     and lowest among others. Adult voters and non-voters differ in average age by some ten years.
//   - Polls. Parties differ by region: the north leans to the Democrats, the south to the Republicans. Each person
//     is in one region and one party, so all counts of a poll together cost as much as one count.
//   - A census's small cells. Dormitories and homes for the old, the group quarters, house less than 2 % of the
//     people, and one in a thousand of the Asian minority. Exact counts of this cell would be so small as to reveal
//     each of its people.
//   - Skew. Incomes are log-normal, and one in 500 is multiplied by twenty. A few people therefore change any mean,
//     and bounds decide the cost of a sum. Heights are approximately normal at each age.
//   - People with many rows. Nine in ten people have 0 to 5 visits, and one in a thousand has 10 to 30. The policy
//     counts at most 30 visits of each person, which is enough for almost everybody. A question with a lower limit, such
//     as `--max-rows 2`, has less noise and loses almost half of the visits. Older people and smokers have more visits,
//     and to other departments.
//
// Some fields are empty, as in real data. These are the party of minors and of people who refused to answer, and
// some incomes, smokers' answers, heights and costs. In CSV, some empty heights are "n/a".
package town

import (
	"fmt"
	"iter"
)

// MaxPeople is the largest size of a town.
const MaxPeople = 100_000_000

// Town is a town whose people are numbered from 1. Its methods are safe for concurrent use.
type Town struct {
	people int64
	seed   uint64
}

// New returns a town of 1 to MaxPeople people, without drawing them yet.
func New(people int64, seed uint64) (Town, error) {
	if people < 1 || people > MaxPeople {
		return Town{}, fmt.Errorf("a town must have 1 to %d people, not %d", MaxPeople, people)
	}
	return Town{people, seed}, nil
}

// Size returns the number of people.
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

// Answer is a person's answer to a yes-or-no question.
type Answer int

// Values of [Answer]. NotSaid means that the person did not answer.
const (
	No Answer = iota
	Yes
	NotSaid
)

// Unknown stands for a number that was not recorded, which is NULL in the table.
const Unknown = -1

// Person is one row of the table people.
type Person struct {
	ID            int64  // number of the person, counting from 1
	Age           int    // in years, 0 to 115
	Party         string // "Democrats", "Republicans", "Other", or "" for none
	Region        string
	Income        int64 // in a year, in whole dollars; or Unknown
	Voted         bool
	Smoker        Answer
	LungCancer    bool
	Height        int // in millimetres, 500 to 2500; or Unknown
	GroupQuarters bool
	Race          string
}

// Visit is one row of the table visits.
type Visit struct {
	Person     int64 // ID of the person
	Day        int   // days since 1970-01-01, within Year
	Department string
	Cost       int64 // in cents; or Unknown
}
