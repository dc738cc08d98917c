package laboratory

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dither/audit/attack"
	"dither/internal/cli/console"
)

// intersectTables infers one person's sensitive value from several published tables.
func intersectTables(s *console.Console, o *attackOptions) error {
	if o.example {
		if err := o.only("cannot be used with --example", "example", "about", "k"); err != nil {
			return err
		}
		o.sensitive = "disease"
		if o.about == "" {
			o.about = "age=34,zip=48213"
		}
	} else if err := o.only("cannot be used with --table", "table", "about", "sensitive", "k"); err != nil {
		return err
	}
	if len(o.tables) > attack.MostTables {
		return console.Usage("attack difference takes at most %d tables", attack.MostTables)
	}
	if o.about == "" || o.sensitive == "" {
		return console.Usage("--table needs --about key=value,… and --sensitive COLUMN")
	}
	known := map[string]string{}
	for pair := range strings.SplitSeq(o.about, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return console.Usage("--about must be key=value,… such as age=34,zip=48213, not %q", o.about)
		}
		if _, twice := known[key]; twice {
			return console.Usage("--about states %s twice", key)
		}
		if known[key] = strings.TrimSpace(value); known[key] == "" {
			return console.Usage("--about has no value for %s", key)
		}
	}
	want := 0
	if o.k != "" {
		k, err := strconv.Atoi(o.k)
		if err != nil || k < 1 {
			return console.Usage("with --table, -k must be a single integer, the k that the tables should have, not %q",
				o.k)
		}
		want = k
	}
	var tables []*attack.Table
	var names []string
	read := func(r io.Reader) (*attack.Table, error) { return attack.ReadTable(r, o.sensitive) }
	for _, file := range o.tables {
		t, err := readFile(file, read)
		if err != nil {
			return err
		}
		tables, names = append(tables, t), append(names, filepath.Base(file))
	}
	if o.example {
		eastern, western := attack.Hospitals()
		for i, text := range [][]byte{eastern, western} {
			t, err := read(bytes.NewReader(text))
			if err != nil {
				return err
			}
			tables, names = append(tables, t), append(names, []string{"east.csv", "west.csv"}[i])
		}
	}
	found, err := attack.Intersect(tables, known)
	if err != nil {
		return err
	}
	return showAttack(s, o, intersectionReport(o, names, tables, found, want))
}

func intersectionReport(
	o *attackOptions, names []string, tables []*attack.Table, found attack.Intersection, want int,
) attackReport {
	type result struct {
		Table  string         `json:"table"`
		Rows   int            `json:"rows"`
		K      int            `json:"k"`
		Fit    int            `json:"fit"`
		Values map[string]int `json:"values"`
		Lacks  []string       `json:"lacks,omitempty"`
	}
	var results []result
	r := attackReport{
		intro: fmt.Sprintf("What the tables reveal about the %s of a person who is in all of them. Known about the person: %s.",
			o.sensitive, strings.ReplaceAll(o.about, ",", ", ")),
		header: []string{"table", "rows", "k", "matching rows", "possible values"},
		right:  []bool{false, true, true, true, false},
	}
	var short []string
	for i, t := range tables {
		k, f := t.Anonymity(), found.Tables[i]
		if k < want {
			short = append(short, names[i])
		}
		r.rows = append(r.rows,
			[]string{
				names[i], strconv.Itoa(t.Rows()), strconv.Itoa(k), strconv.Itoa(f.Rows),
				listed(slices.Sorted(maps.Keys(f.Values))),
			})
		results = append(results, result{names[i], t.Rows(), k, f.Rows, f.Values, f.Lacks})
	}
	r.rows = append(r.rows, []string{"together", "", "", "", listed(found.Left)})
	switch {
	case len(found.Left) == 0:
		r.words = "No value is possible: the person is not in all of the tables, or what is known about them is wrong."
	case slices.Contains(found.Left, "*"):
		r.words = "The tables exclude no value."
	case found.Certain:
		r.words = fmt.Sprintf("One value is possible: if the person is in all of the tables, it is %s.", found.Left[0])
	case len(found.Left) == 1:
		r.words = "The possible values are " + found.Left[0] + "."
	default:
		r.words = fmt.Sprintf("%d values are possible.", len(found.Left))
	}
	if n := len(found.Unread); n > 0 {
		r.words += fmt.Sprintf("\n%s not understood, and kept: %s",
			was(n, "value"), strings.TrimPrefix(listed(found.Unread), strconv.Itoa(n)+": ")+".")
	}
	for i, f := range found.Tables {
		if len(f.Lacks) > 0 {
			r.words += fmt.Sprintf("\n%s has no column %s, so knowing it excludes no row there.",
				names[i], strings.Join(f.Lacks, ", "))
		}
	}
	r.words += "\nAt least k rows are alike in all columns except the sensitive one. k promises nothing about several tables together."
	if want > 0 {
		r.words += fmt.Sprintf("\n%d-anonymous: ", want)
		if len(short) == 0 {
			r.words += "each of them."
		} else {
			r.words += "not " + strings.Join(short, ", ") + "."
		}
	}
	r.value = map[string]any{
		"attack": "intersection", "tables": results, "left": append([]string{}, found.Left...),
		"certain":        found.Certain,
		"not_understood": append([]string{}, found.Unread...),
	}
	return r
}

// listed writes the number of values, and the first few of them.
func listed(values []string) string {
	const most = 6
	var named []string
	for _, v := range values[:min(most, len(values))] {
		if v == "" {
			v = "nothing"
		} else if runes := []rune(v); len(runes) > 40 {
			v = string(runes[:40]) + "…"
		}
		named = append(named, v)
	}
	shown := strings.Join(named, ", ")
	if len(values) > most {
		shown += ", …"
	}
	if len(values) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", len(values), shown)
}
