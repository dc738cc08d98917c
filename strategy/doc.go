// Package strategy chooses the measurements for many questions about one ordered column, before anything is spent.
//
// Questions such as all ranges of a column overlap. Measuring each of them, or each cell, adds more noise than
// necessary. A strategy is an integer matrix A: the curator measures A·x plus independent noise, where x has the count
// of each cell, and every answer is computed from these measurements by least squares. The expected error of every
// answer is a function of A alone, so this package compares strategies exactly, beside a certified lower bound.
//
// Nothing here reads rows. Floats choose what to measure, and state its expected error. Privacy rests on the integers
// of A, of which the kernel computes the sensitivity exactly.
//
// # Units
//
// An expected error is in units of the noise of one count at the same price: a standard deviation of 1/√(2ρ) under
// zCDP, and √2/ε under pure differential privacy. These are the continuous distributions' deviations.
//
// # Sources
//
// The matrix mechanism is by Li, Miklau, Hay, McGregor & Rastogi (The matrix mechanism, VLDB Journal 2015).
package strategy
