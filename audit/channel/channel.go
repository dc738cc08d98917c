// Package channel checks finite mechanisms exactly: those with finitely many inputs and outputs, given by the matrix of their
// probabilities.
package channel
