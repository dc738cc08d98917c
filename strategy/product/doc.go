// Package product chooses what to measure for many questions about several columns at once, before anything is spent.
//
// A question such as a running total of days for each region is a product: it has one question for each column. The
// cells are the combinations of the columns' values. There may be more of them than a computer can hold, because
// everything is computed column by column: questions, strategies, expected errors and the certified lower bound.
//
// Nothing here reads rows. As in package strategy, floats choose what to measure, and the kernel computes the privacy
// loss from the integers of the matrices. Errors are in the units of package strategy.
package product
