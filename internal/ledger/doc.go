// Package ledger is the durable record of the prices charged to the budget of one population, and of the values
// released.
//
// # Guarantees
//
// An acknowledged entry is on disk, and stays there. Nothing is released without a reservation, and no reservation
// is admitted beyond the budget. This holds whatever processes share the home, and wherever one of them is killed.
// A charge that may have happened counts as spent. A failed write is taken back and charges nothing. A write that a
// crash interrupts before any of it was acknowledged also charges nothing.
//
// # Format
//
// ledger.log holds one JSON object per line. It is append-only:
//
//	{"v":1,"n":3,"prev":"<hash of line 2>","at":"<time>","kind":"reserve","body":{…}}
//
// The hash of an entry is the SHA-256 of its line, byte for byte, without the newline. prev stands inside the line,
// so each hash covers all the history before it (`tail -n1 ledger.log | tr -d '\n' | sha256sum` prints the head). A
// line has exactly the keys of its kind: an unknown, missing or repeated key is corruption. v is the least version
// of the format that can express the line. A v above FormatVersion is ErrNewer.
//
// ledger.head names the newest entry. It has 8192 bytes, and two slots at offsets 0 and 4096. Each slot is a line
// of 256 bytes:
//
//	dither-head 1 SEQUENCE INDEX:HASH END free|charged SHA256
//
// padded with spaces. END is the offset in the log at which the entry's line ends, without its newline. The SHA-256
// covers the text before it. The slot with the greater sequence number is the newest; the next write replaces the
// other. After a crash the head may be older than the log, but never newer. If the log lacks the head's entry, or
// has another hash there, the error is a *RolledBackError. Programs up to version 3 kept "INDEX:HASH" and a newline
// in this file. This program reads that form, and replaces it before it writes the first entry.
//
// # Interrupted writes
//
// A last line that can be read is an entry even without its newline. Everything from the first unreadable line on
// is a fragment: several entries are written at once, and a crash can lose any part of them. (Empty lines are
// ignored and cost nothing.) The fragment stays in the log. The next append first writes an entry of kind "torn"
// after it, with the fragment's length and digest.
//
// A fragment costs nothing if the head file shows that none of its entries was acknowledged. This is so if both
// slots are valid with consecutive sequence numbers, the newest slot says "free", and its entry stands before the
// fragment. The torn entry then has "unacknowledged":true (version 4). Otherwise the torn entry is charged the
// largest price that the terms allow, or all that remained if that was less. In that case, complete lines within a
// fragment are corruption. Readers charge the same amount before the torn entry is written.
//
// # Index and checkpoints
//
// ledger.index says where each entry is in the log, and which entries answer which questions. ledger.checkpoint
// names the newest entry of kind "checkpoint", and contains the ledger's state before it. ledger.index.lock is the
// lock for writing both files. All three files can be deleted: the ledger writes them again from the log. The
// ledger trusts nothing in them beyond the digests in the checkpoint entry. So Open reads only the entries since
// the newest checkpoint. It checks each older entry that it uses against its hash. Verify and VerifyInBackground
// read everything.
//
// # Limits
//
// The chain has no key. Anybody who can write the directory can recompute every hash, or restore an older state of
// all files. Only Verify with a head that is kept elsewhere detects that. The directory must be on a local file
// system whose flock excludes other processes and whose fsync makes data durable.
package ledger
