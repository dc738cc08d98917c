// Package interpret reads a guarantee: what a promise of differential privacy, kept, leaves an attacker to learn about
// a person.
package interpret
