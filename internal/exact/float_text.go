package exact

import (
	"strconv"
	"strings"
)

// FormatFloat is strconv.FormatFloat of a double, but that what is written as zero has no sign.
func FormatFloat(x float64, verb byte, precision int) string {
	text := strconv.FormatFloat(x, verb, precision, 64)
	if rest, negative := strings.CutPrefix(text, "-"); negative && strings.Trim(rest, "0.") == "" {
		return rest
	}
	return text
}
