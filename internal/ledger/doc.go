// Package ledger is the durable record of what was reserved from the budget of one population, and of what was
// released.
//
// # What it promises
//
// An acknowledged entry is on disk, and stays. Nothing is released without a reservation, and no reservation is
// admitted beyond the budget, whatever processes share the home and wherever any of them is killed. A charge that may
// have happened counts as spent. A write that fails is taken back and charges nothing, and so does a write that a crash
// cuts off before any of it was acknowledged.
//
// # Format
//
// ledger.log holds one JSON object per line. It is append-only:
//
//	{"v":1,"n":3,"prev":"<hash of line 2>","at":"<time>","kind":"reserve","body":{…}}
//
// The hash of an entry is the SHA-256 of its line, byte for byte, without the newline. prev stands inside the line, so
// each hash covers all the history before it (`tail -n1 ledger.log | tr -d '\n' | sha256sum` prints the head). A line
// has exactly the keys of its kind: an unknown, missing or repeated key is corruption. v is the least version of the
// format that can express the line. A v above FormatVersion is ErrNewer.
//
// ledger.head names the newest entry. It has 8192 bytes, and two slots at 0 and 4096, each a line of 256 bytes:
//
//	dither-head 1 SEQUENCE INDEX:HASH END free|charged SHA256
//
// padded with spaces. END is where the entry's line ends in the log, without its newline. The SHA-256 covers the text
// before it. The slot with the greater sequence number is the newest; the next write replaces the other. After a crash
// the head may be older than the log, but never newer: if the log lacks the head's entry, or has another hash there,
// the error is a *RolledBackError. Programs up to version 3 kept "INDEX:HASH" and a newline in this file. This program
// reads that form, and replaces it before it writes the first entry.
//
// # A line that was not finished
//
// A last line that can be read is an entry even without its newline. From the first line that cannot be read,
// everything is a fragment: several entries are written at once, and a crash can lose any part of them. (An empty line
// is nothing, and costs nothing.) The fragment stays where it is. The next append writes an entry of kind "torn" after
// it, with the fragment's length and digest.
//
// A fragment costs nothing if the head file shows that none of it was acknowledged: both slots are there with
// consecutive numbers, the newest says "free", and its entry stands before the fragment (version 4:
// "unacknowledged":true). Otherwise the torn entry is charged the largest price that the terms allow, or all that
// remained if that was less. Readers charge the same until the torn entry is written. In that case, complete lines
// within a fragment are corruption.
//
// # What need not be read again
//
// ledger.index says where entries are, and which of them are answers to which questions. ledger.checkpoint names the
// newest entry of kind "checkpoint", and has the state at its place. ledger.index.lock is the lock for writing both.
// All three files can be deleted: the ledger writes them again from the log. The ledger trusts nothing in them beyond
// the digests in the checkpoint. So Open reads only the entries since the newest checkpoint, and checks each older
// entry that it uses against its hash. Verify and VerifyInBackground read everything.
//
// # What it cannot see
//
// The chain has no key. Anybody who can write the directory can recompute every hash, or restore an older state of all
// files. Only Verify with a head that is kept elsewhere shows that. The directory must be on a local file system, where
// flock excludes and fsync is honest.
package ledger
