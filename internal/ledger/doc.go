// Package ledger is the durable record of what was reserved from, and released under, the budget of one population.
//
// # What it promises
//
// An entry that was acknowledged is on disk, and stays. Nothing is released without a reservation, and no reservation is
// admitted beyond the budget, whatever processes share the home and wherever any of them is killed. What may have
// happened counts as spent: a reservation whose writing failed, and a fragment whose content cannot be read.
//
// # Format
//
// ledger.log holds one JSON object a line, and is only ever appended to:
//
//	{"v":1,"n":3,"prev":"<hash of line 2>","at":"<time>","kind":"reserve","body":{…}}
//
// The hash of an entry is the SHA-256 of its line, byte for byte, without the newline; prev stands inside the line, so
// that each hash covers all the history before it (`tail -n1 ledger.log | tr -d '\n' | sha256sum` is the head). Keys are
// exactly those that are written: an unknown, missing or repeated one is corruption. v is the least version of the
// format that can say what the line says; one that is larger than FormatVersion is ErrNewer.
//
// ledger.head holds "INDEX:HASH" of the newest entry. It is replaced after each append, so it may be older than the log
// (a crash in between) but never newer: an index beyond the log, or another hash at it, is a *RolledBackError.
//
// # A line that was not finished
//
// A last line without its newline that can be read is an entry. One that cannot be read is a fragment: it stays where it
// is (an empty line is nothing, and costs nothing), and the next append writes after it an entry of kind "torn", which carries the fragment's length and digest and is
// charged the largest price that the terms allow, or what remained if that was less. Until then reading charges the same.
//
// # What it cannot see
//
// The chain has no key. Whoever can write the directory can recompute every hash, or restore all of it as it was: only a
// head that is kept elsewhere shows that, by Verify. The directory must be on a local file system, where flock excludes
// and fsync is honest.
package ledger
