// Package attack runs the classical attacks on published statistics: reconstruction of a secret from many counts,
// differencing, the intersection of k-anonymous tables, and the tracing of members from published means. Each runs
// against something that somebody has published, or against a simulated curator, of whom it tells how much an attacker
// recovers: one that answers exactly, one whose noise has a fixed size however many questions it answers, and one that
// divides a budget over all of them.
//
// An attack that fails has shown nothing: a better one may exist. What holds against every attacker is the bound that a
// promise of differential privacy gives, which stands beside each figure where there is one. Everything here is about
// made-up people or published tables: nothing reads private rows.
package attack

import "errors"

// ErrParameter reports a simulation or an attack that cannot be run as it was asked for: what is wrong follows.
var ErrParameter = errors.New("invalid attack parameter")

// ErrTable reports a published table that cannot be read: what is wrong, and where, follows.
var ErrTable = errors.New("the table cannot be read")
