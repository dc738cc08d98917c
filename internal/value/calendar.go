package value

import "time"

// DateFields are the parts of a date that DatePart returns. DateUnits are the units to whose first day DateTrunc
// truncates a date.
var (
	DateFields = []string{"year", "quarter", "month", "day", "dow", "isodow", "doy"}
	DateUnits  = []string{"year", "quarter", "month", "week", "day"}
)

const dayLength = 24 * 60 * 60 // in seconds

func dateOf(day int64) time.Time { return time.Unix(day*dayLength, 0).UTC() }

// DatePart returns one of DateFields of a day, as PostgreSQL's EXTRACT does. dow is 0 to 6 from Sunday, and isodow
// is 1 to 7 from Monday.
func DatePart(field string, day int64) int64 {
	t := dateOf(day)
	switch field {
	case "year":
		return int64(t.Year())
	case "quarter":
		return (int64(t.Month())-1)/3 + 1
	case "month":
		return int64(t.Month())
	case "dow":
		return int64(t.Weekday())
	case "isodow":
		return (int64(t.Weekday())+6)%7 + 1
	case "doy":
		return int64(t.YearDay())
	}
	return int64(t.Day())
}

// DateTrunc returns the first day of the unit that contains a day, as PostgreSQL's date_trunc does. unit is one of
// DateUnits. Weeks begin on Monday. The earliest day, 1 January of year 1, is a Monday, so its week begins on that
// day.
func DateTrunc(unit string, day int64) int64 {
	t := dateOf(day)
	month := t.Month()
	switch unit {
	case "year":
		month = time.January
	case "quarter":
		month -= (month - 1) % 3
	case "month":
	case "week":
		return day - (DatePart("isodow", day) - 1)
	default:
		return day
	}
	return time.Date(t.Year(), month, 1, 0, 0, 0, 0, time.UTC).Unix() / dayLength
}
