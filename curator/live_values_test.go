package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/policy"
	"dither/internal/seal"
)

// The rows of a public table on a server are refused where they may change. Those of a copy are answered, and are those of the
// sealed version, until the copy is made again.
func TestLivePublicRows(t *testing.T) {
	c := liveLooks(t)
	owner := strings.Replace(os.Getenv("DITHER_TEST_CLINIC"), strings.Fields(os.Getenv("DITHER_TEST_CLINIC"))[1], "user=owner", 1)
	q := Question{SQL: "SELECT name FROM regions ORDER BY name"}
	if _, err := c.Answer(t.Context(), q); codeOf(err) != CodePolicy {
		t.Errorf("in place: %v", err)
	}
	beside := Question{SQL: "SELECT r.name, q.n FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) q JOIN regions r ON r.name = q.region"}
	if _, err := c.Answer(t.Context(), beside); err == nil || !strings.Contains(err.Error(), "--copy") {
		t.Errorf("in place, beside an answer: %v", err)
	}
	copied := func() {
		t.Helper()
		if _, err := c.Seal(t.Context(), "regions", SealOptions{Copy: "copies"}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(c *Owner, want ...string) {
		t.Helper()
		r := must[*Release](t)(c.Answer(t.Context(), q))
		var names []string
		for _, row := range r.Rows {
			names = append(names, fmt.Sprint(row[0].Key))
		}
		if !r.Free || !slices.Equal(names, want) {
			t.Errorf("%q, want %q; free: %v", names, want, r.Free)
		}
	}
	copied()
	check(c, "north", "south")
	pgtest.Exec(t, owner, "INSERT INTO clinic.regions VALUES ('west')")
	check(c, "north", "south")
	check(openHome(t, c.home), "north", "south") // it reads them again
	copied()
	check(c, "north", "south", "west")
}

// Values that a column takes from a public table on a server are those of its sealed version, whatever the table holds by then: the same question is
// given again, with the same groups, until the table is sealed again. What a version does not hold is refused, with what to do.
func TestLiveValues(t *testing.T) {
	c := liveLooks(t)
	owner := strings.Replace(os.Getenv("DITHER_TEST_CLINIC"), strings.Fields(os.Getenv("DITHER_TEST_CLINIC"))[1], "user=owner", 1)
	const sql = "SELECT region, COUNT(*) FROM visits GROUP BY region"
	groups := func(c *Owner) (keys []string, r *Release) {
		t.Helper()
		r = must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
		for _, row := range r.Rows {
			keys = append(keys, fmt.Sprint(row[0].Key))
		}
		return keys, r
	}
	want := []string{"<nil>", "north", "south"}
	first, r := groups(c)
	slices.Sort(first)
	if !slices.Equal(first, want) {
		t.Fatalf("%q", first)
	}
	pgtest.Exec(t, owner, "INSERT INTO clinic.regions VALUES ('west'), ('Ost'), ('west')")
	for _, c := range []*Owner{c, openHome(t, c.home)} { // one that knows them, and one that reads them again
		again, same := groups(c)
		if slices.Sort(again); !slices.Equal(again, want) || !same.Replayed || same.ID != r.ID {
			t.Errorf("%q, %v", again, same.Replayed)
		}
	}
	sealLive(t, c, "regions")
	now, other := groups(c)
	if slices.Sort(now); !slices.Equal(now, []string{"<nil>", "Ost", "north", "south", "west"}) || other.Replayed {
		t.Errorf("%q, %v", now, other.Replayed)
	}

	refused := func(c *Owner, text string) {
		t.Helper()
		before := spent(t, c)
		if _, err := c.Answer(t.Context(), Question{SQL: sql}); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), text) || spent(t, c) != before {
			t.Errorf("%v, want %s", err, text)
		}
	}
	pgtest.Exec(t, owner, fmt.Sprintf("INSERT INTO clinic.regions SELECT 'r' || i FROM generate_series(1, %d) AS i", policy.MaxKeys))
	sealLive(t, c, "regions")
	refused(c, "more than 10000")
	pgtest.Exec(t, owner, "TRUNCATE clinic.regions")
	sealLive(t, c, "regions")
	refused(c, "there are none")

	// A column that is named only after the table was sealed.
	text := must[[]byte](t)(os.ReadFile(filepath.Join(c.home, "policy.yaml")))
	plain := strings.Replace(string(text), "values_from: regions.name, ", "", 1)
	write(t, c.home, "policy.yaml", plain)
	c = openHome(t, c.home)
	sealLive(t, c, "regions")
	sealLive(t, c, "visits")
	write(t, c.home, "policy.yaml", string(text))
	c = openHome(t, c.home)
	sealLive(t, c, "visits")
	refused(c, "seal it again")
	sealLive(t, c, "regions")
	refused(c, "there are none")

	// Its values were cleaned as the column was declared: declared otherwise, they are not those that were noted.
	pgtest.Exec(t, owner, "INSERT INTO clinic.regions VALUES ('north')")
	sealLive(t, c, "regions")
	otherwise := regexp.MustCompile(`name: \{type: text`).ReplaceAllString(string(text), "name: {type: text, values: [north, east]")
	if otherwise == string(text) {
		t.Fatal("the policy is as it was")
	}
	write(t, c.home, "policy.yaml", otherwise)
	c = openHome(t, c.home)
	refused(c, "under an earlier declaration")
	sealLive(t, c, "regions")
	if now, _ := groups(c); !slices.Contains(now, "north") {
		t.Errorf("%q", now)
	}

	// A version's file that was changed is not read.
	v := must[seal.Version](t)(c.kernel.Current("regions"))
	sealed := must[[]byte](t)(os.ReadFile(v.File))
	write(t, filepath.Dir(v.File), filepath.Base(v.File), strings.Replace(string(sealed), `"north"`, `"south"`, 1))
	if _, _, err := seal.Values(v, c.policy.Table("regions").Column("name")); err == nil {
		t.Error("a changed file is read")
	}
}
