package tour

import (
	"fmt"
	"strings"

	"dither/curator"
	"dither/internal/town"
)

// trueVoters returns the number and the average age of adults who did not vote, and of those who did.
func trueVoters(made town.Town) string {
	var adults, ages [2]int64
	for p := range made.People() {
		if p.Age < 18 {
			continue
		}
		i := 0
		if p.Voted {
			i = 1
		}
		adults[i]++
		ages[i] += int64(p.Age)
	}
	return fmt.Sprintf("%s adults of %.2f years on average, and %s of %.2f", curator.Thousands(adults[0]),
		float64(ages[0])/float64(adults[0]), curator.Thousands(adults[1]), float64(ages[1])/float64(adults[1]))
}

// truePolls returns the number of adults for each party in the east, then in the west.
func truePolls(made town.Town) string {
	return counted(made, []string{
		"east Democrats", "east Other", "east Republicans", "west Democrats", "west Other", "west Republicans",
	}, func(p town.Person) string {
		if p.Age < 18 {
			return ""
		}
		return p.Region + " " + p.Party
	})
}

// trueAges returns the number of people of every 20th year of age.
func trueAges(made town.Town) string {
	return counted(made, []int{0, 20, 40, 60, 80, 100}, func(p town.Person) int { return p.Age })
}

// trueSmallCell returns the number of Asian people in group quarters.
func trueSmallCell(made town.Town) string {
	return counted(made, []bool{true}, func(p town.Person) bool { return p.GroupQuarters && p.Race == "asian" })
}

// trueVisits returns the number of all visits, whose number no cap bounds.
func trueVisits(made town.Town) string {
	n := int64(0)
	for p := range made.People() {
		for range made.Visits(p) {
			n++
		}
	}
	return curator.Thousands(n)
}

// counted returns the numbers of people with these keys, in the order of the keys.
func counted[K comparable](made town.Town, keys []K, key func(town.Person) K) string {
	counts := map[K]int64{}
	for p := range made.People() {
		counts[key(p)]++
	}
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = curator.Thousands(counts[k])
	}
	return strings.Join(texts, ", ")
}
