package exact

import (
	"strconv"
	"strings"
)

// FormatFloat is strconv.FormatFloat for a float64, except that it writes no minus sign if all digits are zero.
func FormatFloat(x float64, verb byte, precision int) string {
	text := strconv.FormatFloat(x, verb, precision, 64)
	if rest, negative := strings.CutPrefix(text, "-"); negative && strings.Trim(rest, "0.") == "" {
		return rest
	}
	return text
}
