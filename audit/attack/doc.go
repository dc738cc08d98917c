// Package attack runs the classical attacks on published statistics: reconstruction of a secret from many counts,
// differencing, the intersection of k-anonymous tables, and the tracing of members from published means. Each runs
// against published data, or against a simulated curator, and reports how much an attacker recovers. There are three
// simulated curators: one answers exactly, one adds noise of a fixed size however many questions it answers, and one
// divides a budget among all questions.
//
// A failed attack shows nothing, because a better one may exist. A promise of differential privacy gives a bound
// against every attacker, which stands beside each figure if there is one. Everything here is about made-up people or
// published tables: nothing reads private rows.
package attack

import "errors"

// ErrParameter reports an invalid simulation or attack; the fault follows.
var ErrParameter = errors.New("invalid attack parameter")

// ErrTable reports an unreadable published table; the fault and its place follow.
var ErrTable = errors.New("the table cannot be read")
