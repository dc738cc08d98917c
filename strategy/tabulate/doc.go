// Package tabulate builds sets of tables over places and classifications, such as counties, states and the country by
// sex and age. All tables share one price, and add up. It asks the curator for strategies, and computes the tables from
// the released numbers with package table.
package tabulate
