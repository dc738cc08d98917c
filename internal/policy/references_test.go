package policy_test

import (
	"strings"
	"testing"

	"dither/internal/policy"
)

const shop = `
version: 1
population: {name: shop}
budget: {epsilon: 1}
tables:
  lines: {source: {csv: l.csv}, through: order, rows_per_unit: 30, references: {order: orders.id}, columns: {order: {type: integer}, price: {type: integer, bounds: [0, 9]}}}
  orders: {source: {csv: o.csv}, unit: customer, rows_per_unit: 10, references: {customer: customers.id}, columns: {id: {type: integer}, customer: {type: integer}}}
  customers: {source: {csv: c.csv}, unit: id, rows_per_unit: 1, columns: {id: {type: integer}, nation: {type: integer}}}
  nations: {source: {csv: n.csv}, public: true, rows_per_value: {id: 1, region: 30}, columns: {id: {type: integer}, region: {type: text, values: [a, b]}}}
`

// References are read wherever their tables stand, and lead to whose rows these are.
func TestReferences(t *testing.T) {
	p := decode(t, shop)
	lines := p.Table("lines")
	if lines.Unit.Through != "order" || lines.Unit.IsRow() ||
		lines.References["order"] != (policy.Reference{Table: "orders", Column: "id"}) || lines.Unit.MaxGroups != 30 {
		t.Errorf("%+v", lines)
	}
	if owner := p.Owner(lines); owner == nil || owner.Name != "orders" ||
		p.Owner(p.Table("customers")).Name != "customers" || p.Owner(p.Table("nations")) != nil {
		t.Errorf("%+v", owner)
	}
	if n := p.Table("nations").RowsPerValue; n["id"] != 1 || n["region"] != 30 {
		t.Error(n)
	}
	if term := p.Terms().Units["lines"]; term != "through order orders.id≤30" {
		t.Error(term)
	}
}

func TestBadReferences(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"orders.id}", "orders.number}", `"orders.number" is not a column of another table`},
		{"orders.id}", "lines.price}", "a table cannot refer to itself"},
		{"orders.id}", "nations.id}", `"nations" is public: it belongs to nobody`},
		{"{order: orders.id}", "{ordre: orders.id}", "not among the columns (did you mean order?)"},
		{"through: order,", "through: price,", `"price" is not among the table's references`},
		{"through: order,", "through: order, unit: row,", "a table declares its unit, or gets it through a reference, not both"},
		{"through: order, rows_per_unit: 30,", "through: order,", "missing"},
		{"id: {type: integer}, customer", "id: {type: text}, customer", "they cannot identify the same row"},
		{"order: {type: integer}", "order: {type: integer, bounds: [1, 5]}", "bounds or values would merge several keys"},
		{"order: {type: integer}", "order: {type: integer, values_from: nations.id}", "bounds or values would merge several keys"},
		{"{customer: customers.id}, columns: {id: {type: integer}, customer: {type: integer}}", "{customer: customers.id}, columns: {id: {type: integer}, customer: {type: integer, values_from: nations.id}}", "would merge persons"},
		{"unit: customer, rows_per_unit: 10", "unit: row", "each row of \"orders\" is a unit of its own, so rows of other tables cannot belong to it"},
		{"unit: customer, rows_per_unit: 10, references: {customer: customers.id}", "through: id, rows_per_unit: 2, references: {id: lines.order}", "is not found through at most 4 references"},
		{"unit: id, rows_per_unit: 1,", "unit: id, rows_per_unit: 1, rows_per_value: {id: 1},", "applies only to public tables"},
		{"rows_per_value: {id: 1,", "rows_per_value: {id: 0,", "must be between 1 and"},
		{"rows_per_value: {id: 1,", "rows_per_value: {idd: 1,", "not among the columns"},
		{"public: true,", "public: true, references: {id: customers.id},", "a public table cannot have references"},
		{"public: true,", "public: true, through: id,", "a public table has no privacy unit"},
	} {
		if strings.Count(shop, c.old) != 1 {
			t.Fatal(c.old)
		}
		if _, err := policy.Decode([]byte(strings.Replace(shop, c.old, c.new, 1)), "."); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.new, err, c.want)
		}
	}
}

// Sealing must not merge keys by trim or case: the rows of several units would then belong to each of them.
func TestReferencesAreNotTidied(t *testing.T) {
	of := func(order, id string) error {
		_, err := policy.Decode([]byte(strings.NewReplacer("order: {type: integer}", "order: {type: text"+order+"}",
			"columns: {id: {type: integer}, customer", "columns: {id: {type: text"+id+"}, customer").Replace(shop)), ".")
		return err
	}
	if err := of("", ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{", case: lower", ""}, {"", ", case: upper"}, {", trim: true", ""}, {"", ", trim: true"}} {
		if err := of(c[0], c[1]); err == nil || !strings.Contains(err.Error(), "trim or case would merge several keys") {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// How a table is reached is part of the promise: a change of it is refused once something was spent.
func TestThroughIsKept(t *testing.T) {
	old := decode(t, shop).Terms()
	for _, c := range []struct{ old, new string }{
		{"through: order, rows_per_unit: 30, references: {order: orders.id}", "unit: row"},
		{"through: order, rows_per_unit: 30, references: {order: orders.id}", "unit: order, rows_per_unit: 3"},
		{"{order: orders.id}", "{order: orders.customer}"},
	} {
		next := decode(t, strings.Replace(shop, c.old, c.new, 1)).Terms()
		if _, _, err := policy.Reread(old, next); err == nil {
			t.Errorf("%s is admitted", c.new)
		}
		if _, _, err := policy.Reread(next, old); err == nil {
			t.Errorf("from %s is admitted", c.new)
		}
	}
	next := decode(t, strings.Replace(shop, "rows_per_unit: 30", "rows_per_unit: 40", 1)).Terms()
	if k, _, err := policy.Reread(old, next); k != 1 || err != nil {
		t.Error(k, err)
	}
}
