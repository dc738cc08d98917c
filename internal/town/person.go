package town

var (
	parties = []string{"Democrats", "Republicans", "Other"}
	regions = []string{"north", "east", "south", "west"}
	races   = []string{"white", "black", "asian", "native", "other"}
)

// Limits of ages, in years, and of incomes, in dollars. grown is the age of majority.
const (
	maxAge    = 115
	grown     = 18
	maxIncome = 20_000_000
)

// Person draws the person with the given number, counting from 1. A number above Size belongs to a larger town with
// the same seed.
func (t Town) Person(id int64) Person {
	s := newStream(t.seed, id, forPerson)
	p := Person{ID: id, Age: s.age(), Race: races[s.pick(700, 130, 60, 15, 95)]}
	region := s.pick(30, 25, 25, 20)
	p.Region = regions[region]
	p.Party = s.party(p.Age, region)
	p.Voted = p.Age >= grown && s.chance(turnout(p.Age, p.Party))
	p.Income = s.income(p.Age)
	smokes := p.Age >= 16 && s.chance(smokers(p.Age))
	p.LungCancer = s.chance(cancers(p.Age, smokes))
	p.Smoker = No
	if smokes {
		p.Smoker = Yes
	}
	if s.chance(10) {
		p.Smoker = NotSaid
	}
	p.Height = s.height(p.Age)
	p.GroupQuarters = s.chance(groupQuarters(p.Age, p.Race))
	return p
}

// ages holds the weight of each five-year age group, starting with ages 0–4. The last group includes age 115.
var ages = []int{
	5900,
	6100,
	6300,
	6400,
	6600,
	7000,
	6900,
	6600,
	6200,
	6000,
	6200,
	6500,
	6300,
	5400,
	4400,
	3000,
	1900,
	1100,
	500,
	150,
	30,
	6,
	4,
}

func (s *stream) age() int {
	group, width := s.pick(ages...), 5
	if group == len(ages)-1 {
		width = 6
	}
	return 5*group + s.Below(width)
}

// byRegion holds the parties' weights in each region, at age 48.
var byRegion = [][3]int{{500, 330, 170}, {420, 410, 170}, {330, 520, 150}, {460, 360, 180}}

// party draws a party, or "" for a minor and for 3 % of adults. With each year of age, one person in a thousand
// moves from the first party to the second.
func (s *stream) party(age, region int) string {
	if age < grown || s.chance(30) {
		return ""
	}
	w, shift := byRegion[region], age-48
	return parties[s.pick(w[0]-shift, w[1]+shift, w[2])]
}

// turnout returns the number of voters in a thousand.
func turnout(age int, party string) int {
	p := 300 + 8*(min(age, 80)-grown) - 10*max(age-80, 0)
	switch party {
	case "Republicans":
		p += 60
	case "Other":
		p -= 120
	case "":
		p -= 200
	}
	return p
}

func (s *stream) income(age int) int64 {
	if s.chance(30) {
		return Unknown
	}
	median := int64(36_000)
	switch {
	case age < 16:
		return 0
	case age < 25:
		median = 15_000
	case age >= 65:
		median = 24_000
	}
	income := s.logNormal(median, 100)
	if s.chance(2) {
		income *= 20
	}
	return min(income, maxIncome)
}

// smokers returns the number of smokers in a thousand.
func smokers(age int) int {
	if age < 65 {
		return 280
	}
	return 150
}

// cancers returns the number of people in a thousand with lung cancer.
func cancers(age int, smokes bool) int {
	switch {
	case age < 35:
		return 0
	case smokes:
		return 80 + 3*(min(age, 85)-35)
	}
	return 2 + (min(age, 85)-35)/4
}

// growth holds mean heights in millimetres at some ages. Heights between these ages are interpolated linearly.
var growth = []struct{ age, height int }{
	{0, 650},
	{1, 800},
	{2, 880},
	{5, 1100},
	{10, 1390},
	{13, 1570},
	{16, 1690},
	{18, 1710},
	{50, 1710},
	{maxAge, 1640},
}

func (s *stream) height(age int) int {
	if s.chance(20) {
		return Unknown
	}
	mean := 0
	for i := 1; i < len(growth); i++ {
		if a, b := growth[i-1], growth[i]; age <= b.age {
			mean = a.height + (b.height-a.height)*(age-a.age)/(b.age-a.age)
			break
		}
	}
	if age >= 13 { // two sexes, which no column records
		mean += 65 - 130*s.Below(2)
	}
	h := mean + int(s.normal()*int64(mean)/(26*one))
	return max(500, min(h, 2500))
}

// groupQuarters returns the number of people in a thousand who live in group quarters.
func groupQuarters(age int, race string) int {
	switch {
	case race == "asian":
		return 1
	case age >= 18 && age < 25:
		return 70
	case age >= 85:
		return 120
	}
	return 10
}
