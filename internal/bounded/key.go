package bounded

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/value"
)

// Key is one GROUP BY expression with every value it may take. The values come from the policy and the question, never
// from rows. Each is returned, even if no row has it.
type Key struct {
	Expr   *Expr
	Values []value.Value // distinct, sorted, NULL last if NULL is a group
	Open   bool          // the values are unknown: private key selection decides which are released
	Null   bool          // Open: NULL is a group
}

// NullGroup reports whether NULL is one of the key's values.
func (k *Key) NullGroup() bool {
	return k.Null || len(k.Values) > 0 && k.Values[len(k.Values)-1].Null
}

// Index returns the index of v among the key's values, or -1.
func (k *Key) Index(v value.Value) int {
	i, ok := slices.BinarySearchFunc(k.Values, v, value.Compare)
	if !ok {
		return -1
	}
	return i
}

// SortGroups sorts groups by their keys.
func SortGroups(groups [][]value.Value) {
	slices.SortFunc(groups, func(x, y []value.Value) int { return slices.CompareFunc(x, y, value.Compare) })
}

// GroupName is a text that identifies a group: different groups of the same keys have different names.
func GroupName(keys []value.Value) string {
	var b strings.Builder
	for _, v := range keys {
		if v.Null {
			b.WriteString("-")
			continue
		}
		text := keyText(v)
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteString(":")
		b.WriteString(text)
	}
	return b.String()
}

// Group parses a name.
func (b *Statement) Group(name string) ([]value.Value, error) {
	unreadable := fmt.Errorf("the name of a group is unreadable")
	out := make([]value.Value, 0, len(b.Keys))
	for _, k := range b.Keys {
		if rest, null := strings.CutPrefix(name, "-"); null {
			out, name = append(out, value.NullOf(k.Expr.Type)), rest
			continue
		}
		size, rest, ok := strings.Cut(name, ":")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n < 0 || n > len(rest) {
			return nil, unreadable
		}
		v, err := readText(k.Expr.Type, rest[:n])
		if err != nil {
			return nil, unreadable
		}
		out, name = append(out, v), rest[n:]
	}
	if name != "" {
		return nil, unreadable
	}
	return out, nil
}

// keyText is a key in the name of a group; a date is its number. readText parses it.
func keyText(v value.Value) string {
	if v.Type == value.Date {
		return strconv.FormatInt(v.Int, 10)
	}
	return v.String()
}

func readText(t value.Type, text string) (value.Value, error) {
	if t == value.Date {
		day, err := strconv.ParseInt(text, 10, 64)
		return value.OfDay(day), err
	}
	return ReadKey(t, text)
}

// ReadKey parses a key's text, whatever characters a text holds.
func ReadKey(t value.Type, text string) (value.Value, error) {
	if t == value.Text {
		return value.OfText(text), nil
	}
	return value.Parse(t, text)
}
