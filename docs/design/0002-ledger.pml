/*
A model of the ledger's protocol: lock, tail, head slots, group commit, checkpoint, fragment, recovery. 0002-ledger.md
says what it covers and what it does not.

Two processes reserve, draw and release. The first writes two entries in one batch. A reader replays.

Faults: at every step a process may be killed, a write may fail or be cut, a sync may fail, or the power may be cut.
A power cut loses, tears or keeps each write that was not synced, each by itself. In "dropping", one failed sync also
drops what it should have written, so that later syncs succeed without it.
Damage: once, durable data is lost or becomes unreadable. In "recovery" that is the head file, with or without the end
of the log; the owner then runs "ledger recover".

Claims:
  TOLD      a value that anybody was told stands in a durable release, and an entry that anybody was told of is durable
  RELEASED  a release is written only for a durable reservation
  BUDGET    the reservations that were acknowledged never cost more than the budget
  SPENT     the sum that a reader counts as spent is never below the price of the reservations that were acknowledged
  MISSING   an acknowledged entry is never missing from a log that a reader accepts
  REFUSED   an entry that was refused as "not charged" is never in a log that a reader accepts
  ALARM     faults alone, without damage, never make a reader refuse the ledger
  ROOM      the arrays of this model are large enough

Set-ups. TestProtocol searches each of them whole: no claim fails in any state.
  SETUP calm      PAYS=4 TURNS0=5 TURNS1=6 FAULTS=0 DAMAGE=0
  SETUP crash     PAYS=4 TURNS0=4 TURNS1=5 FAULTS=1 DAMAGE=0
  SETUP crashes   PAYS=3 TURNS0=3 TURNS1=4 FAULTS=2 DAMAGE=0
  SETUP storm     PAYS=2 TURNS0=2 TURNS1=3 FAULTS=4 DAMAGE=0
  SETUP damage    PAYS=4 TURNS0=4 TURNS1=5 FAULTS=0 DAMAGE=1
  SETUP both      PAYS=3 TURNS0=3 TURNS1=4 FAULTS=1 DAMAGE=1
  SETUP worst     PAYS=2 TURNS0=2 TURNS1=2 FAULTS=3 DAMAGE=1
  SETUP opening   PAYS=2 TURNS0=2 TURNS1=2 FAULTS=3 DAMAGE=0 OPENING=1
  SETUP dropping  PAYS=2 TURNS0=2 TURNS1=2 FAULTS=4 DAMAGE=0 DROPPING=1
  SETUP recovery  PAYS=2 TURNS0=2 TURNS1=2 FAULTS=2 DAMAGE=1 LOSING=1

Steps: syncs, checks and orders. Without one of them the claim fails in the set-up: TestProtocol leaves each out.
  STEP WITHOUT_LOCK              calm      BUDGET
  STEP WITHOUT_CATCHING_UP       calm      BUDGET
  STEP WITHOUT_ADMISSION         calm      BUDGET
  STEP WITHOUT_BATCH_ADMISSION   calm      BUDGET
  STEP WITHOUT_LOG_SYNC          calm      TOLD
  STEP WITHOUT_COVER             calm      SPENT
  STEP WITHOUT_ORDER             crash     ALARM
  STEP WITHOUT_HEAD_SYNC         crash     ALARM
  STEP WITHOUT_WAITING           crash     RELEASED
  STEP WITHOUT_TRUNCATION        crash     REFUSED
  STEP WITHOUT_RESTORING         crash     ALARM
  STEP WITHOUT_RECORDING         crash     ALARM
  STEP WITHOUT_BATCH_FRAGMENT    crash     ALARM
  STEP WITHOUT_TAIL_SYNC         crash     TOLD
  STEP WITHOUT_READERS_HEAD      crash     TOLD
  STEP WITHOUT_INDEX_DIGEST      crash     SPENT
  STEP WITHOUT_TRUNCATION_SYNC   crashes   REFUSED
  STEP WITHOUT_RESTORING_SYNC    crashes   ALARM
  STEP WITHOUT_RESTORING_ORDER   crashes   ALARM
  STEP WITHOUT_SLOT_SYNC         crashes   ALARM
  STEP WITHOUT_AMBIGUITY         crashes   TOLD
  STEP WITHOUT_SURE              damage    SPENT
  STEP WITHOUT_HEAD_CHECK        damage    MISSING
  STEP WITHOUT_EVIDENCE          damage    SPENT
  STEP WITHOUT_DOUBT             damage    SPENT
  STEP WITHOUT_OTHER_SLOT        both      MISSING
  STEP WITHOUT_TAIL_HEAD         both      MISSING
  STEP WITHOUT_MARK              both      SPENT
  STEP WITHOUT_TAIL_HEAD_SYNC    worst     MISSING
  STEP WITHOUT_READERS_SLOT_SYNC worst     MISSING
  STEP WITHOUT_OPENING_CHECK     opening   TOLD
  STEP WITHOUT_RECOVERY_SYNC     recovery  TOLD
  STEP WITHOUT_RECOVERY_CHARGE   recovery  SPENT
  STEP WITHOUT_KEPT_CHECK        recovery  MISSING

Abstractions. A cell is a line. An identity stands for its hash. A reservation costs 1, the maximum price. The disk's
space is not modelled: a write that finds no space is a write that fails. The index file and the file beside it are one
record. A step of this model is one operation on a file, and what the process does in memory after it.
*/

#ifndef PAYS
#define PAYS  2    /* reservations that the budget pays */
#endif
#define CELLS 18   /* lines of the log at most; the first is the genesis */
#define NAMES 31   /* identities at most */

#define NONE 0
#define FRAG 1     /* cannot be read as an entry */
#define RES  2     /* a reservation */
#define REL  3     /* a release; about[] is the identity of its reservation */
#define FREE 4     /* records a fragment that costs nothing; about[] is its length */
#define TORN 5     /* records a fragment that costs the maximum price; likewise */
#define CHECK 6    /* a checkpoint */
#define REC  7     /* a recovery; about[] is 1 where it charges all that remains */

/* In a claim's assertion its name stands as a variable that is always false, so that SPIN prints it. */
hidden byte TOLD, RELEASED, BUDGET, SPENT, MISSING, REFUSED, ALARM, ROOM;

/* The log. Cells below synced are durable. Those from synced to reach may be on disk, whole or torn. A truncation
   removed those from size to reach, and no sync has removed them yet. */
byte kind[CELLS], ident[CELLS], about[CELLS];
byte size = 1, synced = 1, reach = 1;
byte fresh = 1;                        /* the next identity */

/* The head file: two slots. Where a slot is dirty, the disk has before, or between, if that is whole. */
typedef slot { byte seq, at, ident; bool whole, charged };
slot head[2], before[2], between[2];
bool dirty[2];

/* What a failed sync has dropped, so that no later sync writes it: the log from this cell on, or a slot. */
byte drop = 0;
bool gone[2];
#ifdef DROPPING
byte drops = DROPPING;
#endif

/* The index file, and the one checkpoint entry that there may be. */
bool indexed = false, indexWhole = false, recorded = false;
byte indexCover = 0, indexSpent = 0, checkCover = 0, checkSpent = 0;

byte lock = 0;                         /* the holder's number + 1 */
byte faults = FAULTS, damage = DAMAGE; /* that may still happen */
bool killed[3];                        /* processes that are to begin again, with nothing in memory */
#define calm (!killed[0] && !killed[1] && !killed[2])
#ifdef WITHOUT_LOCK
#define unlocked true
#else
#define unlocked (lock == 0)
#endif

/* What is true, and no program can see. */
byte drawn = 0;                        /* reservations that were acknowledged, and so paid for noise */
byte acked[CELLS];                     /* the identity that was acknowledged there */
int refused = 0;                       /* bits: identities that were refused as not charged */
bool hurt = false;                     /* durable data was damaged */
bool worse = false;                    /* an entry may be missing, at the price of a fragment or of a recovery */
bool lost = false;                     /* the head file is lost */

/* What the last scan found: used within atomic steps, each of which ends with forget(). */
byte i, spent, tip, frag, within, now, from;
bool ok, checked;
bool taken[CELLS];

inline forget() {
  d_step {
    i = 0;
    do :: i < CELLS -> taken[i] = false; i++ :: else -> break od;
    i = 0; spent = 0; tip = 0; frag = 0; within = 0; now = 0; from = 0; ok = false; checked = false
  }
}

inline blank(s) { s.seq = 0; s.at = 0; s.ident = 0; s.whole = false; s.charged = false }
inline copy(s, o) { s.seq = o.seq; s.at = o.at; s.ident = o.ident; s.whole = o.whole; s.charged = o.charged }
inline none(c) { kind[c] = NONE; ident[c] = 0; about[c] = 0 }
inline tear(c) { kind[c] = FRAG; ident[c] = 0; about[c] = 0 }

inline newest() {                      /* the slot in force: 2 where none is whole */
  if
  :: head[0].whole && (!head[1].whole || head[0].seq > head[1].seq) -> now = 0
  :: head[1].whole && (!head[0].whole || head[1].seq >= head[0].seq) -> now = 1
  :: else -> now = 2
  fi
}

/* Both slots are there, and one was written after the other. No claim needs the second: it holds the disk to its word. */
#define sure (head[0].whole && head[1].whole && (head[0].seq == head[1].seq + 1 || head[1].seq == head[0].seq + 1))
#ifdef WITHOUT_SURE
#define free_ (now < 2 && head[now].at <= tip && !head[now].charged)
#else
#define free_ (now < 2 && head[now].at <= tip && sure && !head[now].charged)
#endif

/* scan reads the log. What the checkpoint covers is not counted again, if the index file is the checkpoint's: that has
   its sum. */
inline scan() {
  spent = 0; from = 0; tip = 0; frag = 0; within = 0; checked = false;
  i = 1;
  do
  :: i < CELLS -> taken[i] = false; checked = checked || (i < size && kind[i] == CHECK); i++
  :: else -> break
  od;
  if
#ifdef WITHOUT_INDEX_DIGEST
  :: indexed && checked -> spent = indexSpent; from = checkCover
#else
  :: indexed && indexWhole && checked && indexCover == checkCover && indexSpent == checkSpent ->
       spent = indexSpent; from = checkCover
#endif
  :: else -> skip
  fi;
  i = 1;
  do
  :: i >= size -> break
  :: i < size && frag != 0 && (kind[i] == FREE || kind[i] == TORN) && about[i] == i - frag ->
       if :: kind[i] == TORN && i > from && spent < PAYS -> spent++ :: else -> skip fi;
       frag = 0; within = 0; tip = i; taken[i] = true; i++
  :: i < size && frag != 0 && !((kind[i] == FREE || kind[i] == TORN) && about[i] == i - frag) ->
       if :: kind[i] != FRAG -> within++ :: else -> skip fi;
       i++
  :: i < size && frag == 0 ->
       if
       :: kind[i] == RES -> tip = i; taken[i] = true; if :: i > from -> spent++ :: else -> skip fi
       :: kind[i] == REL || kind[i] == CHECK -> tip = i; taken[i] = true
       :: kind[i] == REC -> tip = i; taken[i] = true;
            if :: i > from && about[i] == 1 && spent < PAYS -> spent = PAYS :: else -> skip fi
       :: else -> frag = i
       fi;
       i++
  od
}

/* hold compares the log with the head, and with the truth. ok is false where the ledger is refused. */
inline hold() {
  newest();
  ok = now < 2;
#ifdef WITHOUT_BATCH_FRAGMENT
  ok = ok && within == 0;
#endif
#ifndef WITHOUT_DOUBT
  ok = ok && !(frag != 0 && within > 0 && !free_);
#endif
#ifndef WITHOUT_HEAD_CHECK
  ok = ok && head[now].at <= tip && ident[head[now].at] == head[now].ident;
  ok = ok && (head[now].at == 0 || taken[head[now].at]);
#endif
  assert(ok || hurt || lost || ALARM);
  if
  :: ok ->
       i = 1;
       do
       :: i < CELLS ->
            assert(acked[i] == 0 || worse || (taken[i] && ident[i] == acked[i]) || MISSING);
            assert(!(taken[i] && ((refused >> ident[i]) & 1)) || REFUSED);
            i++
       :: else -> break
       od;
#ifndef WITHOUT_EVIDENCE
       if :: frag != 0 && spent < PAYS && !free_ -> spent++ :: else -> skip fi;
#endif
       assert(spent >= drawn || SPENT)
  :: else -> skip
  fi
}

/* All entries are told of. */
inline told() {
  d_step {
    i = 1;
    do
    :: i < size -> if :: taken[i] -> assert(i < synced || hurt || TOLD); acked[i] = ident[i] :: else -> skip fi; i++
    :: else -> break
    od
  }
}

/* durable sets ok where an identity stands in a durable line. */
inline durable(x) {
  d_step {
    i = 0; ok = hurt || worse;
    do :: i < synced && i < size -> ok = ok || (ident[i] == x && kind[i] > FRAG); i++ :: else -> break od
  }
}

/* The power is cut: what was not synced is lost, torn or whole. Both processes end. */
inline powercut() {
  i = synced;
  do
  :: i >= reach -> break
  :: i < reach -> do :: reach > i -> reach--; none(reach) :: else -> break od    /* the file ends here */
  :: i < reach -> tear(i); i++                                                   /* torn, dropped or zeroed */
  :: i < reach -> i++                                                            /* whole */
  od;
  size = reach; synced = reach; drop = 0; gone[0] = false; gone[1] = false;
  i = 0;
  do
  :: i == 2 -> break
  :: i < 2 && dirty[i] -> copy(head[i], before[i]); dirty[i] = false; i++
  :: i < 2 && dirty[i] && between[i].whole -> copy(head[i], between[i]); dirty[i] = false; i++
  :: i < 2 && dirty[i] -> blank(head[i]); dirty[i] = false; i++
  :: i < 2 -> dirty[i] = false; i++
  od;
  blank(before[0]); blank(before[1]); blank(between[0]); blank(between[1]);
  if                                                     /* nothing in the index file is believed: it may be anything */
  :: indexed -> indexed = false; indexWhole = false; indexCover = 0; indexSpent = 0
  :: indexed && indexWhole -> indexWhole = false; indexSpent = 0
  :: skip
  fi;
  lock = 0; killed[0] = true; killed[1] = true;
#ifdef LOSING
  killed[2] = true;
#endif
  forget()
}

active proctype world() {
  byte c = 0;
end:
  do
  :: atomic { faults > 0 && calm -> faults--; powercut() }
  :: atomic { faults > 0 && calm -> faults--; killed[0] = true; if :: lock == 1 -> lock = 0 :: else -> skip fi }
  :: atomic { faults > 0 && calm -> faults--; killed[1] = true; if :: lock == 2 -> lock = 0 :: else -> skip fi }
#ifdef LOSING
  :: atomic { faults > 0 && calm && lock == 3 -> faults--; killed[2] = true; lock = 0 }
#endif
  :: atomic { damage > 0 && calm && lock == 0 && synced == reach && size == reach && !dirty[0] && !dirty[1] ->
       damage--; c = 1;
       do :: c < size - 1 -> c++ :: c < size -> break :: c >= size -> break od;
#ifdef LOSING
       blank(head[0]); blank(head[1]); lost = true;      /* the head file is lost */
       if
       :: c < size && acked[c] != 0 -> hurt = true;      /* and the end of the log */
            do :: size > c -> size--; none(size) :: else -> break od;
            synced = size; reach = size
       :: true
       fi;
#else
       hurt = true;
       if
       :: c < size && acked[c] != 0 ->                                           /* the end of the log is lost */
            do :: size > c -> size--; none(size) :: else -> break od;
            synced = size; reach = size
       :: c < size && acked[c] != 0 -> tear(c)                                   /* a line cannot be read */
       :: c < size && acked[c] != 0 -> tear(c); worse = true; newest();          /* nor can the newest slot */
            if :: now < 2 -> blank(head[now]) :: else -> skip fi;
            now = 0
       :: indexed && indexWhole -> indexWhole = false; indexSpent = 0
       :: true
       fi;
#endif
       c = 0 }
  od
}

/* Operations of whoever holds the lock. Each may fail, done or not; then bad is true. */
inline writeLog() {                    /* n cells at once */
  wrote = size; ids[0] = fresh; ids[1] = 0;
  kind[size] = what; ident[size] = fresh; fresh++;
  about[size] = (what == REL -> paid[0] : (what == FREE || what == TORN -> size - fragAt : 0));
  size++;
  if
  :: n == 2 -> ids[1] = fresh; kind[size] = what; ident[size] = fresh; fresh++;
       about[size] = (what == REL -> paid[1] : 0); size++
  :: else -> skip
  fi;
  assert((size < CELLS && fresh < NAMES) || ROOM);
  bad = false;
  if
  :: true
  :: faults > 0 -> faults--; bad = true                          /* reported as failed, though done */
  :: faults > 0 -> faults--; bad = true;                         /* not done at all */
       do :: size > wrote -> size--; none(size) :: else -> break od
  :: faults > 0 -> faults--; bad = true;                         /* cut in the first line */
       do :: size > wrote + 1 -> size--; none(size) :: else -> break od;
       tear(wrote)
  :: faults > 0 && n == 2 -> faults--; bad = true; tear(wrote + 1) /* in the second */
  fi;
  reach = (size > reach -> size : reach);
  if
  :: true
  :: bad && kind[size - 1] == FRAG && size > wrote -> lock = 0; killed[me] = true   /* the process ended there */
  fi
}

inline syncLog() {
  bad = false;
  if
  :: d_step {
       do :: reach > size -> reach--; none(reach) :: else -> break od;
       if :: drop == 0 -> synced = size :: else -> hurt = true fi;    /* it says nothing of what was dropped before */
       skip }
  :: faults > 0 -> faults--; bad = true
#ifdef DROPPING
  :: faults > 0 && drops > 0 && synced < size -> faults--; drops--; bad = true; drop = (drop == 0 -> synced : drop)
#endif
  fi
}

inline truncateLog() {
  bad = false;
  if
  :: size = wrote
  :: faults > 0 -> faults--; bad = true; size = wrote
  :: faults > 0 -> faults--; bad = true
  fi;
  synced = (synced > size -> size : synced);
  drop = (drop >= size -> 0 : drop)
}

inline overwrite() {                   /* what follows writes head[into] */
  if :: !dirty[into] -> copy(before[into], head[into]) :: else -> copy(between[into], head[into]) fi;
  dirty[into] = true; gone[into] = false
}

inline writeHead(position, costs) {    /* into the slot that is not in force */
  d_step {
    newest();
#ifdef WITHOUT_OTHER_SLOT
    into = (now == 2 -> 0 : now);
#else
    into = (now == 0 -> 1 : 0);
#endif
    sequence = (now == 2 -> 1 : head[now].seq + 1);
    copy(was, head[into]); overwrite();
    head[into].whole = true; head[into].seq = sequence; head[into].at = position; head[into].ident = ident[position];
    head[into].charged = costs; sequence = 0; now = 0; bad = false
  };
  if
  :: true
  :: faults > 0 -> faults--; bad = true                          /* reported as failed, though done */
  :: faults > 0 -> faults--; bad = true; blank(head[into])       /* torn */
  fi
}

inline restoreHead() {                 /* what stood in the slot is written again */
  d_step { overwrite(); copy(head[into], was); bad = false };
  if
  :: true
  :: faults > 0 -> faults--; bad = true
  :: faults > 0 -> faults--; bad = true; blank(head[into])
  fi
}

inline clean(x) {
  if :: gone[x] -> hurt = true :: else -> dirty[x] = false; blank(before[x]); blank(between[x]) fi;
  skip
}

inline syncHead() {
  bad = false;
  if
  :: d_step { clean(into) }
  :: faults > 0 -> faults--; bad = true
#ifdef DROPPING
  :: faults > 0 && drops > 0 -> faults--; drops--; bad = true; gone[into] = true
#endif
  fi
}

/* Another process may have written a slot and may not have lived to make it durable. Nothing rests on it before. */
inline syncSlots() {
  bad = false;
  if
  :: d_step { clean(0); clean(1) }
  :: (dirty[0] || dirty[1]) && faults > 0 -> faults--; bad = true
  fi
}

/* What a writer finds under the lock. good is false where the ledger is refused. */
inline look() {
  d_step {
    scan(); hold(); good = ok;
#ifdef WITHOUT_CATCHING_UP
    if :: !opened -> known = spent; opened = true :: else -> skip fi;
#else
    known = spent;
#endif
    newest();
    lag = good && tip > head[now].at; top = tip; fragAt = frag;
    unseen = good && (seen != head[now].seq || seenIdent != head[now].ident);
    if :: good -> seen = head[now].seq; seenIdent = head[now].ident :: else -> skip fi;
    recording = (good && frag != 0 -> (free_ -> FREE : TORN) : 0);
    owes = (recording == TORN);
#ifdef WITHOUT_MARK
    owes = false;
#endif
#ifdef WITHOUT_RECORDING
    recording = 0;
#endif
#ifdef WITHOUT_EVIDENCE
    owes = false; recording = (recording == TORN -> FREE : recording);
#endif
    skip
  }
}

/* What is written: a record of the fragment first; then a release of what was paid for; then a checkpoint that is due;
   else a reservation, each member of a batch admitted after those before it. */
inline choose() {
  d_step {
    n = 1;
    if
    :: recording != 0 -> what = recording
    :: recording == 0 && paid[0] != 0 -> what = REL; n = (paid[1] != 0 -> 2 : 1)
    :: recording == 0 && paid[0] == 0 && due == 2 && !recorded -> what = CHECK; recorded = true; checkSpent = dueSpent;
#ifdef WITHOUT_COVER
         checkCover = top; indexCover = top
#else
         checkCover = dueCover
#endif
    :: else ->
#ifdef WITHOUT_ADMISSION
         what = RES; n = batch
#else
         what = (known < PAYS -> RES : NONE);
#ifdef WITHOUT_BATCH_ADMISSION
         n = batch
#else
         n = (PAYS - known < batch -> PAYS - known : batch)
#endif
#endif
    fi
  }
}

/* The end of a turn: result is 0 acknowledged, 1 refused and not charged, 2 ambiguous, 3 nothing was tried. */
inline account() {
  d_step {
    if
    :: result == 0 ->
         i = 0;
         do
         :: i < size ->
              if
              :: ident[i] != 0 && (ident[i] == ids[0] || ident[i] == ids[1]) -> acked[i] = ident[i]
              :: else -> skip
              fi;
              i++
         :: else -> break
         od
    :: result == 1 -> refused = (refused | (1 << ids[0]) | (1 << ids[1])) & ~1
    :: else -> skip
    fi;
    if
    :: result == 0 && what == RES ->
         drawn = drawn + n; assert(drawn <= PAYS || BUDGET); known = known + n;
         paid[0] = ids[0]; paid[1] = ids[1];
         if
         :: me == 1 && due == 0 && !recorded -> due = 1; dueCover = size - 1; scan(); dueSpent = spent
         :: else -> skip
         fi
    :: result == 0 && what == REL ->
         durable(ids[0]); assert(ok || TOLD);
         if :: n == 2 -> durable(ids[1]); assert(ok || TOLD) :: else -> skip fi;
         paid[0] = 0; paid[1] = 0
#ifdef WITHOUT_WAITING
    :: result == 1 && what == RES -> paid[0] = ids[0]; paid[1] = ids[1]
#endif
    :: else -> skip
    fi;
    if
    :: result == 0 -> seen = head[into].seq; seenIdent = head[into].ident
    :: result == 2 -> reopen()
    :: else -> skip
    fi;
    if :: lock == me + 1 -> lock = 0 :: else -> skip fi;
    rest(); forget()
  }
}

inline reopen() {                      /* nothing is known from before */
  seen = 0; seenIdent = 0; paid[0] = 0; paid[1] = 0; due = 0; dueCover = 0; dueSpent = 0; opened = false
}

inline rest() {                        /* what a turn leaves nothing of */
  n = 0; what = NONE; top = 0; into = 0; wrote = 0; recording = 0; fragAt = 0; result = 0; ids[0] = 0; ids[1] = 0;
  bad = false; good = false; lag = false; owes = false; unseen = false; blank(was);
#ifdef WITHOUT_CATCHING_UP
  skip
#else
  known = 0
#endif
}

proctype writer(byte me; byte batch; byte most) {
  byte turns, known, n, what, top, into, sequence, wrote, recording, fragAt, result;
  byte seen, seenIdent;                /* the slot that it knows to be durable */
  byte due, dueCover, dueSpent;        /* a checkpoint: 1 is to be written, 2 the index has what it covers */
  byte ids[2], paid[2];
  slot was;
  bool bad, good, lag, opened, owes, unseen;

again:
  {
end:
    do
    :: atomic { due == 1 && calm ->    /* without the lock, of what this process knows */
         indexed = true; indexWhole = true; indexCover = dueCover; indexSpent = dueSpent; due = 2 }
    :: atomic { turns < most && calm && unlocked -> lock = me + 1; turns++; look(); forget();
#ifndef WITHOUT_SLOT_SYNC
         if :: unseen -> syncSlots(); if :: bad -> result = 2; goto finish :: else -> skip fi :: else -> skip fi;
#endif
         if :: !good -> result = 2; goto finish :: good && !lag -> goto decide :: else -> skip fi };

       /* Nobody was told of the entries behind the head's. They become durable, then a slot that names the last. */
#ifndef WITHOUT_TAIL_SYNC
       atomic { syncLog(); if :: bad -> result = 2; goto finish :: else -> skip fi };
#endif
#ifndef WITHOUT_TAIL_HEAD
       atomic { writeHead(top, owes); if :: bad -> result = 2; goto finish :: else -> skip fi };
#ifndef WITHOUT_TAIL_HEAD_SYNC
       atomic { syncHead(); if :: bad -> result = 2; goto finish :: else -> skip fi };
#endif
#endif

decide:
       atomic {
         d_step { scan(); told(); choose(); forget() };
         if :: what == NONE -> result = 3; goto finish :: else -> skip fi;
         if
         :: what == REL -> d_step { durable(paid[0]); assert(ok || RELEASED);
              if :: n == 2 -> durable(paid[1]); assert(ok || RELEASED) :: else -> skip fi; forget() }
         :: else -> skip
         fi;
         writeLog()
       };
#ifdef WITHOUT_ORDER
       if :: atomic { !bad -> writeHead(size - 1, false) } :: bad fi;
       if :: atomic { !bad -> syncHead() } :: bad fi;
#endif
#ifndef WITHOUT_LOG_SYNC
       if :: atomic { !bad -> syncLog() } :: bad fi;
#endif
       if :: bad -> goto back :: atomic { !bad -> writeHead(size - 1, false) } fi;
#ifdef WITHOUT_HEAD_SYNC
       if :: bad -> skip :: atomic { !bad -> result = 0; goto finish } fi;
#else
       if :: bad -> skip :: atomic { !bad -> syncHead(); if :: !bad -> result = 0; goto finish :: else -> skip fi } fi;
#endif

       /* The slot may name the entry. Its former bytes are made durable before the log is truncated. */
#ifdef WITHOUT_RESTORING_ORDER
       atomic { truncateLog() }; if :: bad -> skip :: atomic { !bad -> syncLog() } fi;
       if :: atomic { bad -> result = 2; goto finish } :: atomic { !bad -> restoreHead() } fi;
       if
       :: atomic { bad -> result = 2; goto finish }
       :: atomic { !bad -> syncHead(); result = (bad -> 2 : 1); goto finish }
       fi;
#else
#ifndef WITHOUT_RESTORING
       atomic { restoreHead() };
#ifndef WITHOUT_RESTORING_SYNC
       if :: bad -> skip :: atomic { !bad -> syncHead() } fi;
#endif
       if :: atomic { bad -> result = 2; goto finish } :: !bad fi;
#endif
#endif

back:
#ifdef WITHOUT_TRUNCATION
       atomic { result = 1; goto finish };
#else
       atomic { truncateLog(); if :: bad -> result = 2; goto finish :: else -> skip fi };
#ifdef WITHOUT_TRUNCATION_SYNC
       atomic { result = 1; goto finish };
#else
       atomic { syncLog(); result = (bad -> 2 : 1); goto finish };
#endif
#endif

finish:
       atomic {
#ifdef WITHOUT_AMBIGUITY
         if :: result == 2 && what != NONE -> result = 0 :: else -> skip fi;
#endif
         account()
       }
    od
  } unless { killed[me] };
  /* After a power cut, or where it was killed, the process begins again with nothing in memory. */
  d_step { rest(); reopen(); known = 0; sequence = 0; killed[me] = false };
  goto again
}

/* The reader cannot write: it tells what the log holds where the head names the newest entry, and else nothing. */
proctype reader() {
  bool bad;
end:
  do
  :: atomic { lock == 0 && calm ->
       d_step { scan(); hold(); newest() };
#ifndef WITHOUT_READERS_SLOT_SYNC
       if :: ok -> syncSlots(); ok = !bad :: else -> skip fi;
#endif
#ifndef WITHOUT_READERS_HEAD
       ok = ok && head[now].at == tip;
#endif
       if :: ok -> told() :: else -> skip fi;
       bad = false; forget() }
  od
}

#ifdef OPENING
/* Opening reads as far as the head's entry without the lock, and takes the lock then. */
proctype opener() {
  byte at, id;
end:
  do
  :: atomic { at == 0 && calm -> d_step { newest();
       if
       :: now < 2 && head[now].at > 0 && head[now].at < size && ident[head[now].at] == head[now].ident ->
            at = head[now].at; id = head[now].ident
       :: else -> skip
       fi; forget() } }
  :: atomic { at != 0 && lock == 0 && calm -> d_step { scan(); hold(); newest();
       if
       /* A shorter log is read again, and so is a longer one that does not follow. Where the head names an older entry
          than the one that was read, that may have been taken back, and all is read again. */
#ifdef WITHOUT_OPENING_CHECK
       :: ok && tip == at && !(head[now].at == at && head[now].ident != id) -> assert(ident[at] == id || hurt || TOLD)
#else
       :: ok && tip == at && head[now].at == at && head[now].ident == id -> assert(ident[at] == id || hurt || TOLD)
#endif
       :: else -> skip
       fi; at = 0; id = 0; forget() } }
  od
}
#endif

#ifdef LOSING
inline over() {
  n = 0; what = 0; wrote = 0; fragAt = 0; c = 0; ids[0] = 0; ids[1] = 0; bad = false; kept = false; good = false
}

/* The owner recovers a lost head file, with the newest head, which was kept elsewhere, or without it. */
proctype owner(byte me) {
  byte n, what, wrote, fragAt, c;
  byte ids[2], paid[2];
  bool bad, kept, good;
again:
  {
end:
    do
    :: atomic { lost && lock == 0 && calm -> lock = me + 1; n = 1;
         if :: kept = true :: kept = false fi;
         d_step { scan(); good = (within == 0); fragAt = frag; c = 1;
#ifndef WITHOUT_KEPT_CHECK
           do
           :: c < CELLS -> good = good && (!kept || acked[c] == 0 || (taken[c] && ident[c] == acked[c])); c++
           :: else -> break
           od;
#endif
           forget() };
         if :: !good -> goto leave :: good && fragAt == 0 -> goto record :: else -> what = TORN; writeLog() fi };
       if
       :: atomic { bad -> goto leave }
       :: atomic { !bad -> syncLog(); if :: bad -> goto leave :: else -> skip fi }
       fi;
record:
       atomic { what = REC; writeLog();
#ifndef WITHOUT_RECOVERY_CHARGE
         if :: size > wrote && kind[wrote] == REC -> about[wrote] = !kept :: else -> skip fi;
#endif
         if :: bad -> goto leave :: else -> skip fi };
#ifndef WITHOUT_RECOVERY_SYNC
       atomic { syncLog(); if :: bad -> goto leave :: else -> skip fi };
#endif
       atomic {                        /* a new head file takes the name */
         head[0].seq = 1; head[1].seq = 2; c = 0;
         do
         :: c < 2 -> head[c].whole = true; head[c].at = size - 1; head[c].ident = ident[size - 1]; c++
         :: else -> break
         od;
         lost = false; worse = worse || (!kept && hurt); hurt = false };
leave:
       atomic { if :: lock == me + 1 -> lock = 0 :: else -> skip fi;
         over() }
    od
  } unless { killed[me] };
  d_step { over(); killed[me] = false };
  goto again
}
#endif

init {
  atomic {
    head[0].whole = true; head[0].seq = 1; head[1].whole = true; head[1].seq = 0;
    run writer(0, 2, TURNS0); run writer(1, 1, TURNS1); run reader();
#ifdef OPENING
    run opener();
#endif
#ifdef LOSING
    run owner(2);
#endif
    skip
  }
}
