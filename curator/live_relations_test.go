package curator

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dither/internal/engine/postgres/pgtest"
)

var shopTables = []string{"customers", "orders", "lines", "parts"}

// shopOnServer is shopOf's home, but for its rows, which are on a server, and the URL of its owner. Tables that are to be files stay files.
func shopOnServer(t *testing.T, files ...string) (c *Owner, owner string) {
	t.Helper()
	owner = pgtest.Start(t).Database(t)
	role := fmt.Sprintf("reader%d", time.Now().UnixNano())
	insert := func(table, csv string) (sql string) {
		for _, line := range strings.Split(strings.TrimSpace(csv), "\n") {
			if !strings.Contains(line, "id") && !strings.Contains(line, "number") && !strings.Contains(line, "metal") {
				sql += "INSERT INTO shop." + table + " VALUES ('" + strings.ReplaceAll(line, ",", "', '") + "');"
			}
		}
		return sql
	}
	pgtest.Exec(t, owner, `CREATE SCHEMA shop; CREATE SCHEMA copies; CREATE TABLE shop.customers(id bigint, region varchar(9), age smallint); CREATE TABLE shop.orders(number int, customer int, total numeric);
	 CREATE TABLE shop.lines(number bigint, part text, price int); CREATE TABLE shop.parts(part text, metal text, weight int);`+
		insert("customers", someCustomers+hisCustomer)+insert("orders", someOrders+hisOrders)+insert("lines", someLines+hisLines)+insert("parts", someParts)+
		`CREATE ROLE `+role+` LOGIN; GRANT USAGE ON SCHEMA shop TO `+role+`; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO `+role+`; GRANT USAGE, CREATE ON SCHEMA copies TO `+role)
	t.Setenv("DITHER_TEST_CLINIC", strings.Replace(owner, "user=owner", "user="+role, 1))
	t.Setenv("DITHER_TEST_OTHER", os.Getenv("DITHER_TEST_CLINIC"))
	policy := regexp.MustCompile(`\{csv: (\w+)\.csv\}`).ReplaceAllStringFunc(fmt.Sprintf(relationPolicy, "add-remove"), func(source string) string {
		table := source[len("{csv: ") : len(source)-len(".csv}")]
		if slices.Contains(files, table) {
			return source
		}
		return "{postgres: {url_env: DITHER_TEST_CLINIC}, table: shop." + table + "}"
	})
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", policy)
	write(t, home, "parts.csv", someParts)
	c = openHome(t, home)
	for _, table := range shopTables {
		if _, err := c.Seal(t.Context(), table, SealOptions{Shared: true}); err != nil {
			t.Fatal(err)
		}
	}
	return c, owner
}

// Of relations on a server the same numbers are released as of the same rows in files, with the same randomness, whether they are read where they
// are or copies are; and a relation is answered and given again as one of files is.
func TestLiveRelations(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	files := shopOf(t, "add-remove", true)
	live, _ := shopOnServer(t)
	check := func(what string) {
		t.Helper()
		for _, q := range relationsAsked {
			var released [2][]*big.Int
			for i, c := range []*Owner{files, live} {
				m := drawnFrom(7, func() *Measurements {
					return must[*Measurements](t)(c.Measure(t.Context(), Question{SQL: q.sql, Fresh: true}))
				})
				for _, v := range m.Vectors {
					released[i] = append(released[i], v.Values...)
				}
			}
			if !slices.EqualFunc(released[0], released[1], func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) {
				t.Errorf("%s: %s: %v of files, %v of a server", what, q.sql, released[0], released[1])
			}
		}
		for _, q := range []Question{
			{SQL: "SELECT region, MEDIAN(n) FROM customers JOIN (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) o ON id = o.customer GROUP BY region"},
			{SQL: "SELECT metal, COUNT(*) FROM lines JOIN parts USING (part) GROUP BY ROLLUP (metal)"},
			{SQL: "SELECT MODE(metal) FROM lines JOIN parts USING (part)"},
		} {
			first, again := must[*Release](t)(live.Answer(t.Context(), q)), must[*Release](t)(live.Answer(t.Context(), q))
			if first.Replayed || !again.Replayed || again.ID != first.ID {
				t.Errorf("%s: %s: %v, %v", what, q.SQL, first.Replayed, again.Replayed)
			}
		}
	}
	check("read in place")
	for _, table := range shopTables {
		if _, err := live.Seal(t.Context(), table, SealOptions{Copy: "copies", Shared: true}); err != nil {
			t.Fatal(err)
		}
	}
	check("copies")
}

// What no engine has all rows of is refused, free, with what to do; so is a relation one of whose tables is another one by now.
func TestLiveRelationsRefused(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const sql, alone = "SELECT metal, COUNT(*) FROM lines JOIN parts USING (part) GROUP BY metal", "SELECT COUNT(*) FROM lines"
	refused := func(c *Owner, code Code, text string) {
		t.Helper()
		before := spent(t, c)
		_, err := c.Answer(t.Context(), Question{SQL: sql})
		if codeOf(err) != code || !strings.Contains(fmt.Sprintf("%+v", err), text) || spent(t, c) != before {
			t.Errorf("%v", err)
		}
	}
	c, _ := shopOnServer(t, "parts")
	refused(c, CodePolicy, "sealed from a file")
	if _, err := c.Explain(t.Context(), Question{SQL: sql}); codeOf(err) != CodePolicy {
		t.Errorf("explained: %v", err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: alone}); err != nil {
		t.Error(err)
	}

	c, owner := shopOnServer(t)
	if _, err := c.Seal(t.Context(), "parts", SealOptions{Copy: "copies", Shared: true}); err != nil {
		t.Fatal(err)
	}
	refused(c, CodePolicy, "may be from different times")
	if _, err := c.Seal(t.Context(), "parts", SealOptions{Shared: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: alone}); err != nil {
		t.Error(err)
	}
	pgtest.Exec(t, owner, "ALTER TABLE shop.parts RENAME TO old; CREATE TABLE shop.parts AS SELECT * FROM shop.old; GRANT SELECT ON shop.parts TO PUBLIC")
	refused(c, CodeUnavailable, "")

	text, err := os.ReadFile(filepath.Join(c.home, "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.home, "policy.yaml", strings.Replace(string(text), "{url_env: DITHER_TEST_CLINIC}, table: shop.parts", "{url_env: DITHER_TEST_OTHER}, table: shop.parts", 1))
	c = openHome(t, c.home)
	if _, err := c.AcceptPolicy(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Seal(t.Context(), "parts", SealOptions{Shared: true}); err != nil {
		t.Fatal(err)
	}
	refused(c, CodePolicy, "different servers")
}

// The owner is told of a table whose unit no engine could find.
func TestUnitElsewhere(t *testing.T) {
	at := func(orders, lines string) string {
		t.Helper()
		home := filepath.Join(t.TempDir(), "home")
		if err := Init(home); err != nil {
			t.Fatal(err)
		}
		write(t, home, "policy.yaml", strings.NewReplacer("{csv: orders.csv}", orders, "{csv: lines.csv}", lines).Replace(fmt.Sprintf(relationPolicy, "add-remove")))
		return strings.Join(must[[]string](t)(CheckPolicy(home)), "\n")
	}
	const file, here, there = "{csv: a.csv}", "{postgres: {service: here}, table: a.", "{postgres: {service: there}, table: a."
	for _, c := range []struct {
		orders, lines string
		elsewhere     bool
	}{
		{"{csv: o.csv}", "{csv: l.csv}", false},
		{here + "o}", here + "l}", false},
		{file, here + "l}", true},
		{here + "o}", file, true},
		{here + "o}", there + "l}", true},
	} {
		if got := at(c.orders, c.lines); strings.Contains(got, "through table orders, which is stored elsewhere") != c.elsewhere {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
