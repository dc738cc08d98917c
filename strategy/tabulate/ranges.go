package tabulate

import (
	"regexp"
	"strconv"

	"dither/internal/policy"
)

// maxRange is the largest number of places that one range lists.
const maxRange = 10_000

// rangeForm matches ranges of whole numbers, such as 0..17.
var rangeForm = regexp.MustCompile(`^(-?[0-9]{1,12})\.\.(-?[0-9]{1,12})$`)

// expanded returns the whole numbers of a range, or any other text as it is.
func expanded(f policy.Field, text string) (out []string) {
	m := rangeForm.FindStringSubmatch(text)
	if m == nil {
		return []string{text}
	}
	from, err1 := strconv.ParseInt(m[1], 10, 64)
	to, err2 := strconv.ParseInt(m[2], 10, 64)
	if err1 != nil || err2 != nil || from > to || to-from >= maxRange {
		f.Fail("", "the range %s is empty or has more than %d numbers", text, maxRange)
		return nil
	}
	for n := from; n <= to; n++ {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return out
}
