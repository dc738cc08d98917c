package bounded

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/value"
)

// Key is one GROUP BY expression with all values that it may take. The values come from the policy and the
// question, never from rows. Every value gets a group in the answer, even if no row has it.
type Key struct {
	Expr   *Expr
	Values []value.Value // distinct and sorted; ends with NULL if NULL is a group
	Open   bool          // the values are unknown, and private key selection decides which are released
	Null   bool          // if Open: rows whose key is NULL form a group
}

// NullGroup reports whether NULL is one of the key's values.
func (k *Key) NullGroup() bool {
	return k.Null || len(k.Values) > 0 && k.Values[len(k.Values)-1].Null
}

// Index returns the index of v among the key's values, or -1 if v is not one of them.
func (k *Key) Index(v value.Value) int {
	i, ok := slices.BinarySearchFunc(k.Values, v, value.Compare)
	if !ok {
		return -1
	}
	return i
}

// SortGroups sorts groups by the values of their keys: first by the first key, then by the second, and so on.
func SortGroups(groups [][]value.Value) {
	slices.SortFunc(groups, func(x, y []value.Value) int { return slices.CompareFunc(x, y, value.Compare) })
}

// GroupName returns a text that identifies a group by the values of its keys. Different groups of the same keys
// have different names. [Statement.Group] parses it.
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

// Group returns the key values of the group that GroupName names. It returns an error if name is not such a text.
func (b *Statement) Group(name string) ([]value.Value, error) {
	unreadable := fmt.Errorf("the name of the group is invalid")
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

// keyText returns the text of a key value within a group's name. A date is written as its day number, and a time
// as its microseconds. readText parses the text.
func keyText(v value.Value) string {
	if v.Type.Whole() {
		return strconv.FormatInt(v.Int, 10)
	}
	return v.String()
}

func readText(t value.Type, text string) (value.Value, error) {
	if t.Whole() && t != value.Integer {
		n, err := strconv.ParseInt(text, 10, 64)
		return value.Value{Type: t, Int: n}, err
	}
	return ReadKey(t, text)
}

// ReadKey parses the text of a key value of type t. A text value may hold any characters.
func ReadKey(t value.Type, text string) (value.Value, error) {
	if t == value.Text {
		return value.OfText(text), nil
	}
	return value.Parse(t, text)
}
