package golden

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/curator"
	"dither/internal/engine/enginetest"
	"dither/internal/policy"
	"dither/internal/value"
)

// maker is a home to be made.
type maker struct {
	name, policy string
	files        func(t *testing.T, home string) // the sources
	asks         []ask
	draw         func(i int) ask // further questions; nil for none
	drawn        int             // how many of them are to be answered
	before       func(t *testing.T,
		home string) // what happens to the sealed home before any question is asked; nil for nothing
}

// TestGoldenUpdate writes goldens, where the environment asks for it.
func TestGoldenUpdate(t *testing.T) {
	only := os.Getenv("DITHER_GOLDEN_HOME")
	switch update {
	case "":
	case "homes":
		for _, m := range makers(t) {
			if only == "" || only == m.name {
				t.Run(m.name, m.make)
			}
		}
	case "figures", "plans":
		files, err := filepath.Glob(homeFile("*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".tar.gz")
			if only == "" || only == name {
				t.Run(name, func(t *testing.T) {
					if update == "plans" {
						plansWritten(t, name)
						return
					}
					figured(t, name, readLines[golden](t, figuresFile(name)), true)
				})
			}
		}
	default:
		t.Fatalf("DITHER_UPDATE_GOLDENS is %q, and no figures or homes", update)
	}
}

// make seals a home, asks its questions, and writes it with their figures.
func (m maker) make(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	done := recorded(m.name)
	err := curator.Init(home)
	done()
	if err != nil {
		t.Fatal(err)
	}
	m.files(t, home)
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(m.policy), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, home)
	tables, err := c.Tables()
	if err != nil {
		t.Fatal(err)
	}
	sealed := map[string]bool{}
	for _, public := range []bool{true, false} {
		for _, table := range tables {
			if table.Public == public && !sealed[table.Name] {
				sealed[table.Name] = true
				if _, err := c.Seal(t.Context(), table.Name, curator.SealOptions{Shared: true}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if m.before != nil {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		m.before(t, home)
		c = open(t, home)
	}
	goldens := []golden{{ID: m.name}}
	for _, a := range m.asks {
		g := golden{ID: fmt.Sprintf("%s/%d", m.name, len(goldens)), Ask: a}
		if !a.Follows {
			if g.Fresh, err = computed(t.Context(), c, home, g); err != nil {
				t.Fatalf("%s: %v", a.SQL, err)
			}
			if why, refused := g.Fresh["refused"]; refused {
				t.Logf("refused (%v): %s %s", why, a.Do, a.SQL)
			}
		}
		goldens = append(goldens, g)
	}
	seen, refused := map[string]bool{}, 0
	for i, n := 0, 0; n < m.drawn && i < 20*m.drawn; i++ {
		a := m.draw(i)
		if text := fmt.Sprintf("%+v", a); seen[text] || len(text) > 4000 {
			continue
		} else {
			seen[text] = true
		}
		g := golden{ID: fmt.Sprintf("%s/%d", m.name, len(goldens)), Ask: a}
		if e, err := c.Explain(t.Context(), a.question(true)); err != nil {
			if refused++; refused%8 != 0 {
				continue
			}
		} else if e.Cells > 400 {
			continue
		}
		got, err := computed(t.Context(), c, home, g)
		if err != nil {
			t.Fatalf("%s: %v", a.SQL, err)
		}
		if _, refused := got["refused"]; !refused {
			n++
		}
		g.Fresh = got
		goldens = append(goldens, g)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	pack(t, home, homeFile(m.name))
	figured(t, m.name, goldens, false)
}

// figured computes the figures of a home's questions, those of fresh answers too unless they were just computed,
// and writes them.
func figured(t *testing.T, name string, goldens []golden, fresh bool) {
	t.Helper()
	home := unpack(t, homeFile(name))
	c := open(t, home)
	goldens = slices.Clone(goldens)
	var err error
	for i := range goldens {
		g := &goldens[i]
		if g.Release, g.Again, g.Next = "", nil, nil; g.ID == name {
			if g.Again, err = account(c); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !g.Ask.replayable() {
			continue
		}
		got, err := answered(t.Context(), c, home, g.Ask, false)
		if err != nil {
			t.Fatal(g.ID, err)
		}
		if _, refused := got.figures["refused"]; !refused && !got.replayed {
			t.Errorf("%s: not free: %+v", g.ID, g.Ask)
		}
		g.Release, g.Again = got.release, again(got.figures)
	}
	for i := range goldens {
		if g := &goldens[i]; g.Ask.Do == "train" {
			if g.Next, err = resumed(t.Context(), c, home, *g); err != nil {
				t.Fatal(g.ID, err)
			}
		}
	}
	home = unpack(t, homeFile(name))
	c = open(t, home)
	for i := range goldens {
		g := &goldens[i]
		if g.ID == name || g.Ask.Follows {
			continue
		}
		if fresh {
			if g.Fresh, err = computed(t.Context(), c, home, *g); err != nil {
				t.Fatal(g.ID, g.Ask, err)
			}
		}
		same := true
		differ("", g.Again, again(g.Fresh), func(string) { same = false })
		if same {
			g.Again = nil
		}
	}
	writeLines(t, figuresFile(name), goldens)
	plansWritten(t, name)
}

// makers are all homes, in the order of their names.
func makers(t *testing.T) (out []maker) {
	t.Helper()
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range worlds {
		kind := []string{"rows", "groups", "rows-rho", "groups-rho", "relations-rows-rho", "relations-groups-rho"}[i%6]
		relation := "add"
		if w.Change {
			relation = "change"
		}
		out = append(out, maker{
			name: kind + "-" + relation, drawn: 255,
			policy: strings.Replace(string(w.Text), "selection_delta: 5e-7}\nprice: {default: 1}",
				"selection_delta: 5e-7}\nprice: {default: 1, delta: 4e-10}", 1),
			files: func(t *testing.T, home string) { hostile(t, w, i, home) },
			draw: func(n int) ask {
				return rapid.Custom(func(t *rapid.T) ask {
					r, _, _ := w.Anything(t)
					return ask{SQL: r.SQL, MaxGroups: r.MaxGroups, MinUnits: r.Unknown.MinUnits, Other: r.Unknown.Other}
				}).Example(100_000*i + n)
			},
		})
	}
	return append(out, written()...)
}

// hostile writes random rows of a world's tables.
func hostile(t *testing.T, w enginetest.World, seed int, home string) {
	t.Helper()
	tables := rapid.Custom(func(t *rapid.T) enginetest.Tables {
		return enginetest.RelationRows(t, w.Policy,
			60)
	}).Example(seed + 7)
	for _, table := range w.Policy.Tables {
		text := csvOf(table, tables[table.Name])
		if err := os.WriteFile(filepath.Join(home, table.Name+".csv"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// csvOf is a table's file, with what sealing takes.
func csvOf(table *policy.Table, rows []enginetest.Row) []byte {
	var out bytes.Buffer
	file := csv.NewWriter(&out)
	line := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		line[i] = c.Name
	}
	_ = file.Write(line)
	for _, r := range rows {
		for i, c := range table.Columns {
			v := r[c.Name]
			switch {
			case v.Type == value.Real && (math.IsNaN(v.Real) || math.IsInf(v.Real, 0)),
				v.Type == value.Date && (v.Int < 0 || v.Int > 40_000),
				v.Type == value.Text && (v.Text == "" || strings.ContainsAny(v.Text, "\x00\x01")),
				len(c.Values) > 0 && !slices.ContainsFunc(c.Values, func(o value.Value) bool { return value.Compare(o, v) == 0 }):
				v.Null = true
			}
			switch {
			case !v.Null:
				line[i] = v.String()
			case c.Nullable:
				line[i] = ""
			case len(c.Values) > 0:
				line[i] = c.Values[0].String()
			default:
				line[i] = map[value.Type]string{
					value.Integer: "1", value.Real: "1", value.Text: "a", value.Boolean: "true",
					value.Date: "2000-01-01",
				}[c.Type]
			}
		}
		_ = file.Write(line)
	}
	file.Flush()
	return out.Bytes()
}
