package query

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// shapes are statements that nest as deep as their number of tokens allows, each built from at most n tokens.
var shapes = map[string]func(n int) string{
	"parentheses": func(n int) string {
		k := (n - 4) / 2
		return "SELECT " + strings.Repeat("(", k) + "1" + strings.Repeat(")", k) + " FROM t"
	},
	"sum":   func(n int) string { return "SELECT 1" + strings.Repeat("+1", (n-4)/2) + " FROM t" },
	"power": func(n int) string { return "SELECT 1" + strings.Repeat("^1", (n-4)/2) + " FROM t" },
	"not":   func(n int) string { return "SELECT " + strings.Repeat("NOT ", n-4) + "a FROM t" },
	"minus": func(n int) string { return "SELECT " + strings.Repeat("- ", n-4) + "a FROM t" },
	"or": func(n int) string {
		return "SELECT a" + strings.Repeat(" OR (a", (n-4)/3) + strings.Repeat(")", (n-4)/3) + " FROM t"
	},
	"case": func(n int) string {
		k := (n - 4) / 5
		return "SELECT " + strings.Repeat("CASE WHEN ", k) + "a" + strings.Repeat(" THEN 1 END", k) + " FROM t"
	},
	"call": func(n int) string {
		return "SELECT " + strings.Repeat("f(", (n-4)/3) + "1" + strings.Repeat(")", (n-4)/3) + " FROM t"
	},
	"cast":  func(n int) string { return "SELECT a" + strings.Repeat("::x", (n-4)/2) + " FROM t" },
	"is":    func(n int) string { return "SELECT a" + strings.Repeat(" ISNULL", n-4) + " FROM t" },
	"index": func(n int) string { return "SELECT a" + strings.Repeat("[1]", (n-4)/3) + " FROM t" },
	"array": func(n int) string {
		return "SELECT ARRAY" + strings.Repeat("[", (n-4)/2) + strings.Repeat("]", (n-4)/2) + " FROM t"
	},
	"select": func(n int) string { return strings.Repeat("(SELECT ", (n-4)/3) + "1" + strings.Repeat(")", (n-4)/3) },
	"from": func(n int) string {
		k := (n - 4) / 5
		return "SELECT 1 FROM " + strings.Repeat("(SELECT FROM ", k) + "t" + strings.Repeat(") x", k)
	},
	"union": func(n int) string { return "SELECT" + strings.Repeat(" UNION SELECT", (n-1)/2) },
	"join":  func(n int) string { return "SELECT FROM t" + strings.Repeat(" NATURAL JOIN t", (n-3)/3) },
	"joins": func(n int) string {
		k := (n - 4) / 6
		return "SELECT FROM t" + strings.Repeat(" JOIN t", k) + strings.Repeat(" ON a", k)
	},
	"with": func(n int) string {
		k := (n - 2) / 6
		return strings.Repeat("WITH x AS (", k) + "SELECT" + strings.Repeat(") SELECT", k)
	},
	"rollup": func(n int) string {
		return "SELECT FROM t GROUP BY " + strings.Repeat("ROLLUP(", (n-6)/3) + "a" + strings.Repeat(")", (n-6)/3)
	},
	"collate": func(n int) string { return "SELECT a" + strings.Repeat(" COLLATE c", (n-4)/2) + " FROM t" },
	"zone":    func(n int) string { return "SELECT a" + strings.Repeat(" AT LOCAL", (n-4)/2) + " FROM t" },
}

const crashShape, crashTokens = "DITHER_QUERY_SHAPE", "DITHER_QUERY_TOKENS"

// TestCrashDistance pins how far the limits keep us from overflowing the C parser's stack, which kills the process:
// every shape is read, or refused with an *Error, at the limit on tokens and at eight times it, with the limits lifted.
// Each runs in a process of its own. DITHER_QUERY_CRASH=1 also finds the size at which each shape does crash.
func TestCrashDistance(t *testing.T) {
	if shape := os.Getenv(crashShape); shape != "" {
		n, _ := strconv.Atoi(os.Getenv(crashTokens))
		_, err := parse(shapes[shape](n), limits{bytes: 1 << 30, tokens: 1 << 30, depth: defaultLimits.depth}, nil)
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		fmt.Println("outcome:", err)
		return
	}
	for shape := range shapes {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{defaultLimits.tokens, 4 * defaultLimits.tokens, 8 * defaultLimits.tokens} {
				out, err := runShape(t, shape, n)
				if err != nil {
					t.Fatalf("%d tokens: %v\n%.600s", n, err, out)
				}
				t.Logf("%d tokens: %s", n, out)
			}
			if os.Getenv("DITHER_QUERY_CRASH") != "" {
				t.Logf("%s crashes from about %d tokens on", shape, crashSize(t, shape))
			}
		})
	}
}

func runShape(t *testing.T, shape string, tokens int) (string, error) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashDistance$", "-test.v")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", crashShape+"="+shape,
		crashTokens+"="+strconv.Itoa(tokens))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// crashSize is within 1/16 above the number of tokens that a shape crashes at, or 8 million if it does not.
func crashSize(t *testing.T, shape string) int {
	low, high := 8*defaultLimits.tokens, 4096*defaultLimits.tokens
	if _, err := runShape(t, shape, high); err == nil {
		return high
	}
	for high > low+low/16 {
		mid := (low + high) / 2
		if _, err := runShape(t, shape, mid); err == nil {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
