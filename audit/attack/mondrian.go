package attack

import (
	"fmt"
	"slices"
)

// Anonymized simulates two hospitals, each of which publishes a k-anonymous table of its patients, some of whom were in
// both.
type Anonymized struct {
	Patients int // of each hospital
	Both     int // how many of them are in both
	Diseases int // equally frequent
	K        int
	Runs     int
	Seed     uint64
}

// Exposed is the share of those in both hospitals whose disease an attacker who knows their age and postal code learns
// for certain.
type Exposed struct {
	One  Rate // by the first table alone
	Both Rate // by the two together
}

// patient is a made-up person: an age, a postal code, and a disease.
type patient struct {
	known   [2]int
	disease int
}

// Sizes of the made-up world.
const (
	youngest, ages, codes = 18, 73, 100
	mostPatients          = 100_000
	mostTreated           = 1 << 24 // patients × runs
)

// Run publishes, and intersects for each person in both. All is a function of the seed. The error is ErrParameter.
func (a Anonymized) Run() (Exposed, error) {
	switch {
	case a.Patients < 1 || a.Patients > mostPatients:
		return Exposed{}, fmt.Errorf("%w: each hospital has 1 to %d patients, not %d",
			ErrParameter, mostPatients, a.Patients)
	case a.Both < 1 || a.Both > a.Patients:
		return Exposed{}, fmt.Errorf("%w: 1 to %d patients are in both hospitals, not %d",
			ErrParameter, a.Patients, a.Both)
	case a.K < 1 || a.K > a.Patients:
		return Exposed{}, fmt.Errorf("%w: k is 1 to the number of patients, not %d", ErrParameter, a.K)
	case a.Diseases < 1 || a.Diseases > 64:
		return Exposed{}, fmt.Errorf("%w: there are 1 to 64 diseases, not %d", ErrParameter, a.Diseases)
	case a.Runs < 1 || a.Runs > MostRuns:
		return Exposed{}, fmt.Errorf("%w: there are 1 to %d runs, not %d", ErrParameter, MostRuns, a.Runs)
	case a.Runs > mostTreated/a.Patients:
		return Exposed{}, fmt.Errorf("%w: patients × runs is at most %d", ErrParameter, mostTreated)
	}
	one, both := make([]float64, a.Runs), make([]float64, a.Runs)
	for run := range one {
		s := newStream(a.Seed, uint64(run))
		world := make([]patient, 2*a.Patients-a.Both)
		for i := range world {
			world[i] = patient{[2]int{youngest + s.Below(ages), s.Below(codes)}, s.Below(a.Diseases)}
		}
		// The last of the first hospital are the first of the second.
		first, second := anonymize(world[:a.Patients], a.K), anonymize(world[a.Patients-a.Both:], a.K)
		for i := range a.Both {
			left := first[a.Patients-a.Both+i]
			if left&(left-1) == 0 {
				one[run]++
			}
			if left &= second[i]; left&(left-1) == 0 { // never 0: the person's own disease is in both
				both[run]++
			}
		}
		one[run], both[run] = one[run]/float64(a.Both), both[run]/float64(a.Both)
	}
	return Exposed{rateOf(one), rateOf(both)}, nil
}

// anonymize makes a k-anonymous table by strict Mondrian [LeFevre, DeWitt & Ramakrishnan 2006]: patients are halved at
// the median of what spreads most among them, as long as both halves keep k; each part is published with the ranges of
// its members. It returns the set of diseases that the table tells of each patient's part, as bits.
//
// Whoever is in the table and in the ranges of a part is a member of it: strict parts do not overlap.
func anonymize(patients []patient, k int) []uint64 {
	out := make([]uint64, len(patients))
	order := make([]int, len(patients))
	for i := range order {
		order[i] = i
	}
	var split func(part []int)
	split = func(part []int) {
		spread := [2]float64{}
		for d, size := range []float64{ages, codes} {
			low, high := patients[part[0]].known[d], patients[part[0]].known[d]
			for _, i := range part {
				low, high = min(low, patients[i].known[d]), max(high, patients[i].known[d])
			}
			spread[d] = float64(high-low) / size
		}
		widest := 0
		if spread[1] > spread[0] {
			widest = 1
		}
		for _, d := range []int{widest, 1 - widest} {
			slices.SortFunc(part, func(i, j int) int {
				if c := patients[i].known[d] - patients[j].known[d]; c != 0 {
					return c
				}
				return i - j
			})
			median := patients[part[len(part)/2]].known[d]
			cut := slices.IndexFunc(part, func(i int) bool { return patients[i].known[d] >= median })
			if cut >= k && len(part)-cut >= k {
				split(part[:cut])
				split(part[cut:])
				return
			}
		}
		var told uint64
		for _, i := range part {
			told |= 1 << patients[i].disease
		}
		for _, i := range part {
			out[i] = told
		}
	}
	split(order)
	return out
}
