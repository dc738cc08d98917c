package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An entry of columns declares many columns at once if its key is a pattern such as q*, and its key `names` lists
// them. The names stand in the policy, so its meaning depends on no file.

// maxColumns is the largest number of names that all patterns of a policy may list.
const maxColumns = 10_000

// IsPattern reports whether the key of an entry of columns can stand for several columns.
func IsPattern(key string) bool { return strings.Contains(key, "*") }

// Matches reports whether a pattern matches a name. In a pattern, * stands for any text, and every other character
// for itself.
func Matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] { // the leftmost place of each part leaves the most for the next
		_, rest, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name = rest
	}
	return true
}

// many returns the columns that an entry with the key names declares, as copies of one column. seen holds the names
// that are declared already.
func (r *reader) many(entry, list field, one *Column, seen map[string]string) (out []*Column) {
	pattern := entry.key.Value
	if !IsPattern(pattern) {
		list.failKey("", "names needs a pattern with * as the key of its columns, such as q*, found %s", quote(pattern))
		return nil
	}
	items := []field{list}
	if list.node.Kind == yaml.SequenceNode {
		items, _ = list.list()
	}
	for _, item := range items {
		text, ok := item.text()
		if !ok {
			continue
		}
		names, wrong := span(text)
		if wrong != "" {
			item.fail("", "%s %s", quote(text), wrong)
			continue
		}
		if r.spanned += len(names); r.spanned > maxColumns {
			list.fail("", "the patterns of a policy may list at most %d names", maxColumns)
			return out
		}
		for _, name := range names {
			folded := foldASCII(name)
			first, again := seen[folded]
			seen[folded] = name
			switch wrong := CheckName(name); {
			case wrong != "":
				item.fail("", "a name %s", wrong)
			case !Matches(pattern, name):
				item.fail("", "%s does not match the pattern %s", quote(name), quote(pattern))
			case again:
				item.fail("unquoted names in SQL ignore case", "is declared twice, except for case: %s", quote(first))
			default:
				out = append(out, r.copyOf(one, name))
				continue
			}
			break // one error for each item
		}
	}
	return out
}

func (r *reader) copyOf(c *Column, name string) *Column {
	other := *c
	other.Name = name
	if c.ValuesFrom != nil {
		from := *c.ValuesFrom
		other.ValuesFrom = &from
	}
	if at, ok := r.from[c]; ok {
		r.from[&other] = at
	}
	if at, ok := r.tidied[c]; ok {
		r.tidied[&other] = at
	}
	return &other
}

// spanForm matches a first and a last name that end in a number: q1..q300.
var spanForm = regexp.MustCompile(`^(.*?)([0-9]{1,9})\.\.(.*?)([0-9]{1,9})$`)

// span returns the names that a text stands for: itself, or those from the first to the last, as in q1..q300. If
// the first number has leading zeros, all have as many digits as it has.
func span(text string) (names []string, wrong string) {
	m := spanForm.FindStringSubmatch(text)
	if m == nil || m[1] != m[3] {
		return []string{text}, ""
	}
	first, _ := strconv.Atoi(m[2])
	last, _ := strconv.Atoi(m[4])
	switch padded := strings.HasPrefix(m[2], "0") && m[2] != "0"; {
	case padded && len(m[2]) != len(m[4]), !padded && strings.HasPrefix(m[4], "0") && m[4] != "0":
		return nil, "has numbers of different widths"
	case last < first:
		return nil, "ends before it begins"
	case last-first >= maxColumns:
		return nil, fmt.Sprintf("stands for more than %d names", maxColumns)
	case padded:
		for n := first; n <= last; n++ {
			names = append(names, fmt.Sprintf("%s%0*d", m[1], len(m[2]), n))
		}
	default:
		for n := first; n <= last; n++ {
			names = append(names, m[1]+strconv.Itoa(n))
		}
	}
	return names, ""
}

// spans is the inverse of span: it writes names as few texts, in the given order.
func spans(names []string) (texts []string) {
	for i := 0; i < len(names); {
		n := following(names[i:])
		if longer := names[i] + ".." + names[i+n-1]; n > 1 && standsFor(longer, names[i:i+n]) {
			texts = append(texts, longer)
		} else {
			texts = append(texts, names[i:i+n]...)
		}
		i += n
	}
	return texts
}

// numberedForm matches a name that ends in a number.
var numberedForm = regexp.MustCompile(`^(.*?)([0-9]{1,9})$`)

// following returns how many of the names, from the first one on, count up: q1, q2, q3.
func following(names []string) (n int) {
	m := numberedForm.FindStringSubmatch(names[0])
	if m == nil {
		return 1
	}
	first, _ := strconv.Atoi(m[2])
	width := 0
	if strings.HasPrefix(m[2], "0") && m[2] != "0" {
		width = len(m[2])
	}
	for n = 1; n < len(names) && n < maxColumns && names[n] == fmt.Sprintf("%s%0*d", m[1], width, first+n); n++ {
		if width > 0 && len(names[n]) != len(names[0]) {
			break
		}
	}
	return n
}

// standsFor reports whether a text stands for exactly these names.
func standsFor(text string, names []string) bool {
	all, wrong := span(text)
	return wrong == "" && slices.Equal(all, names)
}

// Pattern is an entry of columns whose key is a pattern without names.
type Pattern struct {
	Table   string
	Pattern string
}

// Patterns returns the columns of a policy whose names are patterns. Such an entry declares one column of that name,
// until Record adds the names of the columns that match.
func (p *Policy) Patterns() (out []Pattern) {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if IsPattern(c.Name) {
				out = append(out, Pattern{t.Name, c.Name})
			}
		}
	}
	return out
}

// Record adds to the entry of a pattern the names of the columns that it declares, and returns the new text of the
// policy. Nothing else in the text changes. The text must be a valid policy in the folder dir.
func Record(text []byte, dir string, at Pattern, names []string) ([]byte, error) {
	r := new(reader)
	entry := entryOf(r.parse(text), "tables", at.Table, "columns", at.Pattern)
	if entry == nil || entry.Kind != yaml.MappingNode || len(entry.Content) == 0 {
		return nil, fmt.Errorf("table %s has no columns %s", quote(at.Table), quote(at.Pattern))
	}
	items := spans(names)
	for i, item := range items {
		items[i] = scalar(item)
	}
	added := "names: [" + strings.Join(items, ", ") + "]"
	lines := strings.SplitAfter(string(text), "\n")
	line, column := entry.Line, entry.Column
	if entry.Style&yaml.FlowStyle != 0 {
		added, column = added+", ", column+1 // after the brace
	} else {
		first := entry.Content[0]
		line, column = first.Line, first.Column
		added += "\n" + strings.Repeat(" ", column-1)
	}
	runes := []rune(lines[line-1])
	lines[line-1] = string(runes[:column-1]) + added + string(runes[column-1:])
	out := []byte(strings.Join(lines, ""))
	p, err := Decode(out, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if t := p.Table(at.Table); t == nil || t.Column(name) == nil {
			return nil, fmt.Errorf("the policy cannot be edited: write %s into the entry %s yourself", added, quote(at.Pattern))
		}
	}
	return out, nil
}

// entryOf follows keys from the root of a policy's tree. It returns nil if there is no such entry.
func entryOf(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		var found *yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				found = n.Content[i+1]
			}
		}
		n = found
	}
	return n
}
