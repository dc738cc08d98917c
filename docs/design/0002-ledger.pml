/*
The ledger's protocol as a model: lock, tail, head slots, group commit, checkpoint, fragment, recovery.

Two processes reserve, draw and release, the first of them two reservations in one batch; one reader replays. At every step a
process may be killed, a write may fail or be cut, a sync may fail, and the power may be cut: then each write that was not
synced is lost, torn or whole, each by itself. Once, something that was durable may be damaged.

Claims, in words:
  TOLD      a value that anybody was told stands in a durable release
  RELEASED  a release is written only for a durable reservation
  BUDGET    what was drawn never costs more than the budget
  SPENT     what a reader counts as spent is never below what was drawn
  MISSING   an acknowledged entry is never missing from what a reader accepts
  REFUSED   what was refused as "not charged" is never counted afterwards
  ALARM     a crash alone never makes a reader refuse the ledger

Each step that can be left out has a name below (WITHOUT_…): the test leaves out one at a time, and expects a claim to fail.

Abstractions. A cell is a line; an identity stands for its hash. A reservation costs 1. Space that was allocated is not
modelled: a write that finds no space is a write that fails. The index file is one record that is replaced by rename.
*/

#define BUDGET 2   /* reservations that the budget pays */
#define CELLS  16  /* lines of the log at most; the first is the genesis */
#define TURNS  2   /* entries or batches that a process tries to write */

#define NONE 0
#define FRAG 1     /* cannot be read as an entry */
#define RES  2     /* a reservation */
#define REL  3     /* a release; about[] is the identity of its reservation */
#define FREE 4     /* records a fragment that costs nothing; about[] is its length */
#define TORN 5     /* records a fragment that costs the most that one reservation may cost; likewise */
#define CHECK 6    /* a checkpoint */

/* The log. Cells below synced are durable; those from synced to reach may be on disk, whole or torn. Beyond size lies what a
   truncation took away that was not synced yet. */
byte kind[CELLS], ident[CELLS], about[CELLS];
byte size = 1, synced = 1, reach = 1;
byte fresh = 1;                        /* the next identity */

/* The head file: two slots, and what stood in each before it was last written, until that is synced. */
typedef slot { byte seq, at, ident; bool whole, charged };
slot head[2], before[2];
bool dirty[2];

/* The index file, and the one checkpoint entry that there may be. */
bool indexed = false, indexWhole = false;
byte indexCover = 0, indexSpent = 0, checkCover = 0, checkSpent = 0;
bool recorded = false;                 /* that there was an attempt to write the checkpoint */

byte lock = 0;                         /* 0: free */
byte faults, damage;                   /* that are still to come: set at the beginning */
byte epoch = 0;                        /* counts power cuts */
bool killed[3];                        /* processes that are to begin again, with nothing in memory */

/* What is true, which no program can see. */
byte drawn = 0;                        /* reservations that were acknowledged, and so paid for noise */
byte acked[CELLS];                     /* the identity that was acknowledged there */
bool refused[40];                      /* identities that were refused as not charged */
bool hurt = false;                     /* whether durable data was damaged */
bool worse = false;                    /* whether its head was, too: then an entry may be missing, at the price of a fragment */

/* What the last scan found: used within atomic steps, each of which ends with forget(). */
byte i, spent, tip, frag, slotNow, fromCell;
bool ok, checked;
bool taken[CELLS];

inline forget() {
  i = 0;
  do :: i < CELLS -> taken[i] = false; i++ :: else -> break od;
  i = 0; spent = 0; tip = 0; frag = 0; slotNow = 0; fromCell = 0; ok = false; checked = false
}

inline newest() {                      /* the slot in force: 2 where none is whole */
  if
  :: head[0].whole && (!head[1].whole || head[0].seq > head[1].seq) -> slotNow = 0
  :: head[1].whole && (!head[0].whole || head[1].seq >= head[0].seq) -> slotNow = 1
  :: else -> slotNow = 2
  fi
}

#define sure() (head[0].whole && head[1].whole && (head[0].seq == head[1].seq + 1 || head[1].seq == head[0].seq + 1))

/* scan reads the log. Of what the checkpoint covers nothing is counted again: its sum is the index file's, where that is the checkpoint's. */
inline scan() {
  spent = 0; fromCell = 0; tip = 0; frag = 0; checked = false;
  i = 1;
  do
  :: i >= CELLS -> break
  :: else -> taken[i] = false; checked = checked || (i < size && kind[i] == CHECK); i++
  od;
  if
#ifdef WITHOUT_INDEX_DIGEST
  :: indexed && checked -> spent = indexSpent; fromCell = checkCover
#else
  :: indexed && indexWhole && checked && indexCover == checkCover && indexSpent == checkSpent -> spent = indexSpent; fromCell = checkCover
#endif
  :: else -> skip
  fi;
  i = 1;
  do
  :: i >= size -> break
  :: else ->
       if
       :: frag != 0 ->
            if
            :: (kind[i] == FREE || kind[i] == TORN) && about[i] == i - frag ->
                 if :: kind[i] == TORN && i > fromCell && spent < BUDGET -> spent++ :: else -> skip fi;
                 frag = 0; tip = i; taken[i] = true
#ifdef WITHOUT_BATCH_FRAGMENT
            :: !((kind[i] == FREE || kind[i] == TORN) && about[i] == i - frag) && kind[i] != FRAG -> frag = CELLS; break
            :: !((kind[i] == FREE || kind[i] == TORN) && about[i] == i - frag) && kind[i] == FRAG -> skip
#else
            :: else -> skip
#endif
            fi
       :: else ->
            if
            :: kind[i] == RES -> tip = i; taken[i] = true; if :: i > fromCell -> spent++ :: else -> skip fi
            :: kind[i] == REL || kind[i] == CHECK -> tip = i; taken[i] = true
            :: else -> frag = i
            fi
       fi;
       i++
  od
}

/* hold compares the log with the head, and with the truth. ok is false where the ledger is refused. */
inline hold() {
  newest();
  ok = slotNow < 2 && frag != CELLS;
#ifndef WITHOUT_HEAD_CHECK
  if
  :: ok && (head[slotNow].at > tip || ident[head[slotNow].at] != head[slotNow].ident || (head[slotNow].at > 0 && !taken[head[slotNow].at])) -> ok = false
  :: else -> skip
  fi;
#endif
  assert(ok || hurt);                                                          /* ALARM */
  if
  :: ok ->
       i = 1;
       do
       :: i >= CELLS -> break
       :: else ->
            assert(acked[i] == 0 || worse || (taken[i] && ident[i] == acked[i]));                      /* MISSING */
            assert(!(taken[i] && refused[ident[i]]));                                         /* REFUSED */
            i++
       od;
#ifndef WITHOUT_EVIDENCE
       if :: frag != 0 && spent < BUDGET && !(sure() && !head[slotNow].charged) -> spent++ :: else -> skip fi;
#endif
       assert(spent >= drawn)                                                   /* SPENT */
  :: else -> skip
  fi
}

/* The power is cut: what was not synced is lost, torn or whole. */
inline powercut() {
  i = synced;
  do
  :: i >= reach -> break
  :: i < reach ->                                                /* ends here */
       do :: reach > i -> reach--; kind[reach] = NONE; ident[reach] = 0; about[reach] = 0 :: else -> break od
  :: i < reach -> kind[i] = FRAG; ident[i] = 0; about[i] = 0; i++ /* torn, dropped or zeroed */
  :: i < reach -> i++                                             /* whole */
  od;
  size = reach; synced = reach;
  i = 0;
  do
  :: i == 2 -> break
  :: i < 2 && dirty[i] -> head[i].whole = before[i].whole; head[i].seq = before[i].seq; head[i].at = before[i].at;
       head[i].ident = before[i].ident; head[i].charged = before[i].charged; dirty[i] = false; i++
  :: i < 2 && dirty[i] -> head[i].whole = false; head[i].seq = 0; head[i].at = 0; head[i].ident = 0; head[i].charged = false; dirty[i] = false; i++
  :: i < 2 -> dirty[i] = false; i++
  od;
  i = 0;
  do
  :: i == 2 -> break
  :: else -> before[i].whole = false; before[i].seq = 0; before[i].at = 0; before[i].ident = 0; before[i].charged = false; i++
  od;
  if                                                            /* the index file is never synced with care: it may be anything */
  :: indexed -> indexed = false; indexWhole = false; indexCover = 0; indexSpent = 0
  :: indexed && indexWhole -> indexWhole = false; indexSpent = 0
  :: skip
  fi;
  lock = 0; epoch++; forget()
}

active proctype world() {
  do
  :: atomic { faults > 0 -> faults--; powercut() }
  :: atomic { faults > 0 && !killed[0] -> faults--; killed[0] = true; if :: lock == 1 -> lock = 0 :: else -> skip fi }
  :: atomic { faults > 0 && !killed[1] -> faults--; killed[1] = true; if :: lock == 2 -> lock = 0 :: else -> skip fi }
  :: atomic { damage > 0 && lock == 0 && synced == reach && size == reach && size > 1 && !dirty[0] && !dirty[1] && acked[size - 1] != 0 ->
       damage--; hurt = true;
       if
       :: size--; synced = size; reach = size; kind[size] = NONE; ident[size] = 0; about[size] = 0   /* the last line is gone */
       :: kind[size - 1] = FRAG; ident[size - 1] = 0; about[size - 1] = 0                          /* or cannot be read */
       :: kind[size - 1] = FRAG; ident[size - 1] = 0; about[size - 1] = 0; worse = true;           /* nor can the slot that names it */
            newest();
            if
            :: slotNow < 2 -> head[slotNow].whole = false; head[slotNow].seq = 0; head[slotNow].at = 0; head[slotNow].ident = 0;
                 head[slotNow].charged = false
            :: else -> skip
            fi;
            forget()
       fi }
  od
}

/* Steps of a writer that holds the lock. Each may fail, done or not; then bad is true. */
inline writeLog(n, what) {       /* n cells at once */
  atomic {
    wrote = size; ids[0] = 0; ids[1] = 0;
    if
    :: what == CHECK -> recorded = true; checkSpent = indexSpent;
#ifdef WITHOUT_COVER
         checkCover = top; indexCover = top
#else
         checkCover = indexCover
#endif
    :: else -> skip
    fi;
    kind[size] = what; about[size] = (what == REL -> paid[0] : (what == FREE || what == TORN -> size - fragAt : 0));
    ident[size] = fresh; ids[0] = fresh; fresh++; size++;
    if
    :: n == 2 -> kind[size] = what; about[size] = (what == REL -> paid[1] : 0); ident[size] = fresh; ids[1] = fresh; fresh++; size++
    :: else -> skip
    fi;
    assert(size < CELLS && fresh < 40);
    reach = (size > reach -> size : reach);
    bad = false;
    if
    :: true
    :: faults > 0 -> faults--; bad = true                          /* reported as failed, though done */
    :: faults > 0 -> faults--; bad = true;                         /* cut at the first cell */
         do :: size > wrote + 1 -> size--; kind[size] = NONE; ident[size] = 0; about[size] = 0 :: else -> break od;
         kind[wrote] = FRAG; ident[wrote] = 0; about[wrote] = 0;
         reach = size
    :: faults > 0 -> faults--; bad = true;                         /* not done at all */
         do :: size > wrote -> size--; kind[size] = NONE; ident[size] = 0; about[size] = 0 :: else -> break od;
         reach = size
    fi
  }
}

inline syncLog() {
  atomic {
    bad = false;
    if
    :: synced = size; do :: reach > size -> reach--; kind[reach] = NONE; ident[reach] = 0; about[reach] = 0 :: else -> break od
    :: faults > 0 -> faults--; bad = true
    fi
  }
}

inline truncateLog() {
  atomic {
    bad = false;
    if
    :: size = wrote; synced = (synced > size -> size : synced)
    :: faults > 0 -> faults--; bad = true
    fi
  }
}

inline writeHead(position, costs) {             /* into the slot that is not in force */
  atomic {
    newest();
#ifdef WITHOUT_OTHER_SLOT
    into = (slotNow == 2 -> 0 : slotNow);
#else
    into = (slotNow == 0 -> 1 : 0);
#endif
    sequence = (slotNow == 2 -> 1 : head[slotNow].seq + 1);
    if
    :: !dirty[into] ->
         before[into].whole = head[into].whole; before[into].seq = head[into].seq; before[into].at = head[into].at;
         before[into].ident = head[into].ident; before[into].charged = head[into].charged
    :: else -> skip
    fi;
    was.whole = head[into].whole; was.seq = head[into].seq; was.at = head[into].at; was.ident = head[into].ident; was.charged = head[into].charged;
    bad = false;
    if
    :: true -> head[into].whole = true; head[into].seq = sequence; head[into].at = position; head[into].ident = ident[position]; head[into].charged = costs; dirty[into] = true
    :: faults > 0 -> faults--; bad = true; head[into].whole = true; head[into].seq = sequence; head[into].at = position; head[into].ident = ident[position]; head[into].charged = costs; dirty[into] = true
    :: faults > 0 -> faults--; bad = true; head[into].whole = false; head[into].seq = 0; head[into].at = 0; head[into].ident = 0; head[into].charged = false; dirty[into] = true
    fi;
    forget()
  }
}

inline syncHead() {
  atomic {
    bad = false;
    if
    :: dirty[into] = false; before[into].whole = false; before[into].seq = 0; before[into].at = 0; before[into].ident = 0; before[into].charged = false
    :: faults > 0 -> faults--; bad = true
    fi
  }
}

/* Somebody else may have written a slot, and may not have lived to make it durable: nothing rests on it before it is. */
inline syncSlots() {
  atomic {
    bad = false;
    if
    :: dirty[0] = false; dirty[1] = false;
       before[0].whole = false; before[0].seq = 0; before[0].at = 0; before[0].ident = 0; before[0].charged = false;
       before[1].whole = false; before[1].seq = 0; before[1].at = 0; before[1].ident = 0; before[1].charged = false
    :: (dirty[0] || dirty[1]) && faults > 0 -> faults--; bad = true
    fi
  }
}

inline restoreHead() {                   /* what stood in the slot, written again and synced */
  atomic {
    bad = false;
    if
    :: head[into].whole = was.whole; head[into].seq = was.seq; head[into].at = was.at; head[into].ident = was.ident; head[into].charged = was.charged;
       dirty[into] = false; before[into].whole = false; before[into].seq = 0; before[into].at = 0; before[into].ident = 0; before[into].charged = false
    :: faults > 0 -> faults--; bad = true
    fi
  }
}

inline unlock() { atomic { if :: lock == me + 1 -> lock = 0 :: else -> skip fi } }

/* enter takes the lock, catches up and makes the head name the newest entry. good is false where the handle is of no use. */
inline enter() {
#ifdef WITHOUT_LOCK
  atomic { lock = me + 1 };
#else
  atomic { lock == 0 -> lock = me + 1 };
#endif
#ifndef WITHOUT_SLOT_SYNC
  syncSlots();
#else
  bad = false;
#endif
  atomic {
    scan(); hold(); good = ok && !bad;
#ifdef WITHOUT_CATCHING_UP
    if :: !opened -> known = spent; opened = true :: else -> skip fi;
#else
    known = spent;
#endif
    newest(); lag = good && tip > head[slotNow].at; top = tip;
    recording = 0; fragAt = frag;
    if
    :: good && frag != 0 ->
         recording = (sure() && !head[slotNow].charged -> FREE : TORN)
    :: else -> skip
    fi;
    owes = (recording == TORN)
#ifdef WITHOUT_RECORDING
    ; recording = 0
#endif
#ifdef WITHOUT_EVIDENCE
    ; if :: recording == TORN -> recording = FREE :: else -> skip fi
#endif
    ; forget()
  };
  if
  :: lag ->
#ifndef WITHOUT_TAIL_SYNC
       syncLog(); if :: bad -> good = false :: else -> skip fi;
#endif
#ifndef WITHOUT_TAIL_HEAD
       if :: good -> writeHead(top, owes); if :: bad -> good = false :: else -> skip fi :: else -> skip fi;
       if :: good -> syncHead(); if :: bad -> good = false :: else -> skip fi :: else -> skip fi;
#endif
       skip
  :: else -> skip
  fi;
  atomic {                               /* now all of it may be told */
    if
    :: good ->
         scan();
         i = 1;
         do
         :: i > top -> break
         :: i <= top && taken[i] -> assert(i < synced || hurt); acked[i] = ident[i]; i++                  /* TOLD */
         :: else -> i++
         od
    :: else -> skip
    fi;
    forget()
  }
}

/* append writes n entries: result is 0 acknowledged, 1 refused and not charged, 2 ambiguous. The lock is given back. */
inline append(n, what) {
  result = 2;
  writeLog(n, what);
  if :: !bad ->
#ifdef WITHOUT_LOG_SYNC
       skip
#else
#ifdef WITHOUT_ORDER
       writeHead(size - 1, false); if :: !bad -> syncHead() :: else -> skip fi; if :: !bad -> syncLog() :: else -> skip fi
#else
       syncLog()
#endif
#endif
     :: else -> skip
  fi;
  if
  :: bad ->
#ifdef WITHOUT_TRUNCATION
       result = 1
#else
       truncateLog();
#ifndef WITHOUT_TRUNCATION_SYNC
       if :: !bad -> syncLog() :: else -> skip fi;
#endif
       if :: !bad -> result = 1 :: else -> skip fi
#endif
  :: else ->
       writeHead(size - 1, false);
       if :: !bad ->
#ifndef WITHOUT_HEAD_SYNC
            syncHead()
#else
            skip
#endif
          :: else -> skip
       fi;
       if
       :: bad ->
#ifndef WITHOUT_RESTORING
            restoreHead();
#else
            bad = false;
#endif
            if :: !bad -> truncateLog(); if :: !bad -> syncLog() :: else -> skip fi; if :: !bad -> result = 1 :: else -> skip fi
               :: else -> skip
            fi
       :: else -> result = 0
       fi
  fi;
  atomic {
    if
    :: result == 0 ->
         i = 0;
         do
         :: i >= CELLS -> break
         :: i < CELLS && i < size && ident[i] != 0 && (ident[i] == ids[0] || ident[i] == ids[1]) -> acked[i] = ident[i]; i++
         :: else -> i++
         od
    :: result == 1 -> refused[ids[0]] = true; refused[ids[1]] = true; refused[0] = false
    :: else -> skip
    fi;
    forget()
  };
  unlock()
}

/* durable asserts that an identity stands in a durable line. */
inline durable(x) {
  i = 0; ok = false;
  do :: i >= synced || i >= size -> break :: else -> if :: ident[i] == x && kind[i] > FRAG -> ok = true :: else -> skip fi; i++ od;
  assert(ok || hurt)
}

proctype writer(byte me; byte batch) {
  byte mine, known, n, sum, top, into, sequence, wrote, recording, fragAt, result, turns, what;
  byte ids[2], paid[2];
  slot was;
  bool bad, good, lag, opened, owes, covers;

again:
  {
    do
    :: turns >= TURNS + me -> break     /* one more for the checkpoint */
    :: else ->
         turns++;
         enter();
         if
         :: !good -> unlock(); break                    /* ambiguous or refused: nothing more is done */
         :: else -> skip
         fi;
         /* What is written: a record of the fragment first; then what was paid for; then a checkpoint that was computed; else a
            reservation, each member of a batch admitted after those before it. */
         atomic {
           n = 1; what = NONE;
           if
           :: recording != 0 -> what = recording
           :: recording == 0 && paid[0] != 0 -> what = REL; n = (paid[1] != 0 -> 2 : 1)
           :: recording == 0 && paid[0] == 0 && covers && !recorded -> what = CHECK
#ifdef WITHOUT_ADMISSION
           :: recording == 0 && paid[0] == 0 && !(covers && !recorded) -> what = RES; n = batch
#else
           :: recording == 0 && paid[0] == 0 && !(covers && !recorded) && known < BUDGET -> what = RES;
#ifdef WITHOUT_BATCH_ADMISSION
                n = batch
#else
                n = (BUDGET - known < batch -> BUDGET - known : batch)
#endif
#endif
           :: else -> skip
           fi
         };
         if
         :: what == NONE -> unlock(); break             /* exhausted */
         :: else -> skip
         fi;
         if
         :: what == REL -> atomic { durable(paid[0]); if :: n == 2 -> durable(paid[1]) :: else -> skip fi; forget() }    /* RELEASED */
         :: else -> skip
         fi;
         append(n, what);
         atomic {
           if
#ifdef WITHOUT_AMBIGUITY
           :: result == 2 -> result = 0
#endif
           :: else -> skip
           fi;
           if
           :: result == 0 && what == RES ->
                drawn = drawn + n; assert(drawn <= BUDGET);                                                    /* BUDGET */
                paid[0] = ids[0]; paid[1] = ids[1]
           :: result == 0 && what == REL ->
                durable(ids[0]); if :: n == 2 -> durable(ids[1]) :: else -> skip fi;                           /* TOLD */
                paid[0] = 0; paid[1] = 0
           :: else -> skip
           fi;
           forget()
         };
         if
         :: result == 1 -> opened = false                /* refused; the handle reads again */
         :: result == 2 -> break
         :: else -> skip
         fi;
         /* The index file is written without the lock, of what this process knows; the checkpoint names it afterwards. */
         if
         :: me == 1 && !covers && result == 0 && what == RES ->
              atomic { lock == 0 -> scan(); sum = spent; hold();
                if :: ok -> indexed = true; indexWhole = true; indexCover = tip; indexSpent = sum; sum = 0; covers = true :: else -> skip fi; forget() }
         :: else -> skip
         fi
    od;
    goto done
  } unless { epoch != mine || killed[me] };
  /* After a power cut, or where it was killed, the process begins again with nothing in memory. */
  d_step { mine = epoch; killed[me] = false; known = 0; n = 0; top = 0; into = 0; sequence = 0; wrote = 0; recording = 0; fragAt = 0; ids[0] = 0; ids[1] = 0;
    paid[0] = 0; paid[1] = 0; was.whole = false; was.seq = 0; was.at = 0; was.ident = 0; was.charged = false; bad = false; lag = false; opened = false;
    owes = false; what = NONE; result = 0 };
  goto again;
done:
  skip
}

/* The reader replays: it tells what the head has acknowledged, and advances nothing. */
proctype reader(byte me) {
  byte mine, x;
  bool bad;
again:
  {
    do
    :: atomic { lock == 0 -> lock = me + 1 };
#ifndef WITHOUT_READERS_SLOT_SYNC
       syncSlots();
#endif
       atomic {
         scan(); hold();
         if
         :: ok && !bad ->
              newest(); x = 0; i = 1;
              do
#ifdef WITHOUT_READERS_HEAD
              :: i >= size -> break
#else
              :: i > head[slotNow].at -> break
#endif
              :: else -> if :: kind[i] == REL -> x = ident[i] :: else -> skip fi; i++
              od;
              if :: x != 0 -> durable(x); x = 0 :: else -> skip fi                                /* TOLD */
         :: else -> skip
         fi;
         x = 0; bad = false; forget()
       };
       unlock()
    od
  } unless { epoch != mine || killed[me] };
  d_step { mine = epoch; killed[me] = false };
  goto again
}

/* A process is killed: the lock is free, what it wrote stays in the cache. Modelled by the next lock holder: see killer. */
init {
  atomic {
    if                                   /* the small searches first: a claim that fails mostly fails there */
    :: faults = 0; damage = 0
    :: faults = 0; damage = 1
    :: faults = 1; damage = 0
    :: faults = 1; damage = 1
    :: faults = 2; damage = 0
    fi;
    head[0].whole = true; head[0].seq = 1; head[0].at = 0; head[0].ident = 0;
    head[1].whole = true; head[1].seq = 0; head[1].at = 0; head[1].ident = 0;
    run writer(0, 2); run writer(1, 1); run reader(2)
  }
}
