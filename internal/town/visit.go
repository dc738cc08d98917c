package town

import "iter"

// Year is the year of all visits, and MaxVisits the largest number of visits of one person.
const (
	Year      = 2025
	MaxVisits = 100
)

const (
	firstDay = 20089 // 2025-01-01, in days since 1970-01-01
	yearDays = 365
)

// Indices of departments.
const (
	general = iota
	emergency
	cardiology
	oncology
	orthopaedics
	paediatrics
)

var departments = []string{"general", "emergency", "cardiology", "oncology", "orthopaedics", "paediatrics"}

// medianCosts holds the median cost of a visit to each department, in cents.
var medianCosts = []int64{9_000, 45_000, 38_000, 90_000, 26_000, 8_000}

// Visits draws the visits of a person, at most MaxVisits, in no particular order.
func (t Town) Visits(p Person) iter.Seq[Visit] {
	return func(yield func(Visit) bool) {
		s := newStream(t.seed, p.ID, forVisits)
		weights := wards(p)
		for range s.count(p) {
			d := s.pick(weights[:]...)
			v := Visit{Person: p.ID, Day: s.day(d), Department: departments[d], Cost: s.logNormal(medianCosts[d], 130)}
			if s.chance(10) {
				v.Cost = Unknown
			}
			if !yield(v) {
				return
			}
		}
	}
}

// count draws a person's number of visits. Most counts are geometric, and at most MaxVisits. One person in a thousand
// comes often: 10 to 30 times, all equally likely.
func (s *stream) count(p Person) int {
	if s.chance(1) {
		return 10 + s.Below(21)
	}
	again := 500 // probability of one more visit, in thousandths
	switch {
	case p.Age >= 65:
		again = 740
	case p.Age >= 45:
		again = 680
	case p.Age >= grown:
		again = 600
	}
	if p.Smoker == Yes {
		again += 40
	}
	if p.LungCancer {
		again += 60
	}
	n := 0
	for n < MaxVisits && s.chance(again) {
		n++
	}
	return n
}

// wards returns the weights of the departments for a person.
func wards(p Person) [6]int {
	w := [6]int{general: 550, emergency: 170, cardiology: 80, oncology: 50, orthopaedics: 150}
	switch {
	case p.Age < grown:
		w = [6]int{general: 350, emergency: 200, cardiology: 5, oncology: 5, orthopaedics: 80, paediatrics: 360}
	case p.Age >= 65:
		w = [6]int{general: 420, emergency: 140, cardiology: 230, oncology: 100, orthopaedics: 110}
	}
	if p.Smoker == Yes {
		w[cardiology] *= 2
		w[emergency] += 50
	}
	if p.LungCancer {
		w[oncology] += 800
	}
	return w
}

// day draws a day of the year. Except for emergencies, fewer visits are on weekends.
func (s *stream) day(department int) int {
	day := firstDay + s.Below(yearDays)
	// 1970-01-01 was a Thursday.
	if weekday := (day + 4) % 7; department != emergency && (weekday == 0 || weekday == 6) {
		day = firstDay + s.Below(yearDays)
	}
	return day
}
