// Package interpret states the meaning of a guarantee: what an attacker can learn about a person if a promise of
// differential privacy is kept.
package interpret
