package attack

import (
	"fmt"
	"slices"
)

// Anonymized simulates two hospitals. Each publishes a k-anonymous table of its patients, and some patients are in
// both.
type Anonymized struct {
	Patients int // patients in each hospital
	Both     int // patients who are in both hospitals
	Diseases int // number of diseases, all equally frequent
	K        int
	Runs     int
	Seed     uint64
}

// Exposed is the share of the patients in both hospitals whose disease an attacker learns for certain. The attacker
// knows their age and postal code.
type Exposed struct {
	One  Rate // from the first table alone
	Both Rate // from both tables
}

// patient is a made-up person: an age, a postal code, and a disease.
type patient struct {
	known   [2]int
	disease int
}

// Ages, postal codes, and the limits of a simulation.
const (
	youngest, ages, codes = 18, 73, 100
	mostPatients          = 100_000
	mostTreated           = 1 << 24 // patients × runs
)

// Run publishes the tables of both hospitals, and intersects them for each patient in both. The seed determines the
// result. Invalid fields are ErrParameter.
func (a Anonymized) Run() (Exposed, error) {
	switch {
	case a.Patients < 1 || a.Patients > mostPatients:
		return Exposed{}, fmt.Errorf("%w: the number of patients of each hospital must be 1 to %d, not %d",
			ErrParameter, mostPatients, a.Patients)
	case a.Both < 1 || a.Both > a.Patients:
		return Exposed{}, fmt.Errorf("%w: the number of patients in both hospitals must be 1 to %d, not %d",
			ErrParameter, a.Patients, a.Both)
	case a.K < 1 || a.K > a.Patients:
		return Exposed{}, fmt.Errorf("%w: k must be 1 to the number of patients, not %d", ErrParameter, a.K)
	case a.Diseases < 1 || a.Diseases > 64:
		return Exposed{}, fmt.Errorf("%w: the number of diseases must be 1 to 64, not %d", ErrParameter, a.Diseases)
	case a.Runs < 1 || a.Runs > MostRuns:
		return Exposed{}, fmt.Errorf("%w: the number of runs must be 1 to %d, not %d", ErrParameter, MostRuns, a.Runs)
	case a.Runs > mostTreated/a.Patients:
		return Exposed{}, fmt.Errorf("%w: patients × runs must be at most %d", ErrParameter, mostTreated)
	}
	one, both := make([]float64, a.Runs), make([]float64, a.Runs)
	for run := range one {
		s := newStream(a.Seed, uint64(run))
		world := make([]patient, 2*a.Patients-a.Both)
		for i := range world {
			world[i] = patient{[2]int{youngest + s.Below(ages), s.Below(codes)}, s.Below(a.Diseases)}
		}
		// The last patients of the first hospital are the first patients of the second.
		first, second := anonymize(world[:a.Patients], a.K), anonymize(world[a.Patients-a.Both:], a.K)
		for i := range a.Both {
			left := first[a.Patients-a.Both+i]
			if left&(left-1) == 0 {
				one[run]++
			}
			// the set `left` is never empty, because both sets contain the person's disease
			if left &= second[i]; left&(left-1) == 0 {
				both[run]++
			}
		}
		one[run], both[run] = one[run]/float64(a.Both), both[run]/float64(a.Both)
	}
	return Exposed{rateOf(one), rateOf(both)}, nil
}

// anonymize makes a k-anonymous table by strict Mondrian [LeFevre, DeWitt & Ramakrishnan 2006]. It divides the
// patients at the median of the attribute that varies most among them, as long as both halves have at least k
// patients. Each final part is published with the ranges of its members. For each patient, the result is the set of
// diseases in the patient's part, as bits.
//
// Parts do not overlap. So a patient in the table whose attributes are in the ranges of a part is a member of that
// part.
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
