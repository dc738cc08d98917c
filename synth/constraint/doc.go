// Package constraint reads statements that every row of a table satisfies, such as age < 18 => NOT married, and
// evaluates them on values and on ranges of values. A constraint is a public statement of its author. Nothing compares
// it with real rows.
package constraint
