// Package ledger is the durable record of what was reserved from, and released under, the budget of one population.
//
// # What it promises
//
// An entry that was acknowledged is on disk, and stays. Nothing is released without a reservation, and no reservation
// is admitted beyond the budget, whatever processes share the home and wherever any of them is killed. What may have
// happened counts as spent. A write that fails is taken back, and charges nothing; so does one that a crash cuts off.
//
// # Format
//
// ledger.log holds one JSON object a line, and is only ever appended to:
//
//	{"v":1,"n":3,"prev":"<hash of line 2>","at":"<time>","kind":"reserve","body":{…}}
//
// The hash of an entry is the SHA-256 of its line, byte for byte, without the newline; prev stands inside the line, so
// that each hash covers all the history before it (`tail -n1 ledger.log | tr -d '\n' | sha256sum` is the head). Keys
// are exactly those that are written: an unknown, missing or repeated one is corruption. v is the least version of the
// format that can say what the line says; one that is larger than FormatVersion is ErrNewer.
//
// ledger.head names the newest entry. It has 8192 bytes, and two slots at 0 and 4096, each a line of 256 bytes:
//
//	dither-head 1 SEQUENCE INDEX:HASH END free|charged SHA256
//
// padded with spaces. END is where the entry's line ends in the log, without its newline; the SHA-256 is of what stands
// before it. The slot with the
// greater sequence number is the newest; the next one goes over the other. The head may be older than the log (a crash
// in between) but never newer: an
// index beyond the log, or another hash at it, is a *RolledBackError. Programs up to version 3 kept "INDEX:HASH" and a
// newline there, which is read, and
// replaced before the first entry is written.
//
// # A line that was not finished
//
// A last line without its newline that can be read is an entry. From the first line that cannot be read on, all is a
// fragment (several entries are
// written at once, and a crash loses any part of them): it stays where it is (an empty line is nothing, and costs
// nothing), and the next append writes
// after it an entry of kind "torn", which carries the fragment's length and digest.
//
// A fragment costs nothing where the head file shows that none of it was acknowledged: both slots are there, one after
// the other, the newest says "free",
// and its entry stands before the fragment (version 4: "unacknowledged":true). Otherwise the torn entry is charged the
// largest price that the terms allow, or
// what remained if that was less, and reading charges the same until it is there. Then whole lines within a fragment
// are corruption.
//
// # What need not be read again
//
// ledger.index says where entries are and which are answers to what; ledger.checkpoint names the newest entry of kind
// "checkpoint" and has the state at its place; ledger.index.lock is the lock of whoever writes them. All three can be
// deleted: they are written again from the log. Nothing in them is believed beyond the digests that the checkpoint has
// of them. So Open reads what came since the newest checkpoint, and each entry that is used is checked against its
// hash; Verify and VerifyInBackground read everything.
//
// # What it cannot see
//
// The chain has no key. Whoever can write the directory can recompute every hash, or restore all of it as it was: only
// a head that is kept elsewhere shows that, by Verify. The directory must be on a local file system, where flock
// excludes and fsync is honest.
package ledger
