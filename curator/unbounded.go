package curator

// Reasons why a quotient has no interval. Only the first one depends on the noise.
const (
	whyZero  = "its divisor cannot be told from 0"
	whySome  = whyZero + " in the rows without one"
	whyModes = "its divisor may be 0 whatever is released, because a mode has no interval"
)

// markUnbounded marks the numbers whose intervals have no end on either side, as that of a quotient whose divisor cannot be
// told from 0. Such an interval says nothing, so the number is shown without one, and the column states the reason.
func (r *Release) markUnbounded() {
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.NoInterval == whyZero || c.NoInterval == whySome {
			c.NoInterval = "" // of rows of the measured question, which may not be shown
		}
		marked := 0
		for _, row := range r.Rows {
			e := row[i].Estimate
			if e == nil || e.Chosen || e.Bare && !e.Vacuous || e.Low != nil || e.High != nil {
				continue
			}
			e.Bare, e.Vacuous = true, true
			marked++
		}
		switch {
		case marked == 0 || c.NoInterval != "":
		case marked == len(r.Rows):
			c.NoInterval = whyZero
		default:
			c.NoInterval = whySome
		}
	}
}
