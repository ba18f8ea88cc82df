/* The publication protocol of lib/ring/publication.hpp, with the store buffers that real processors have.
 *
 * spin explores interleavings of a machine in which each store is seen by all at once. So buffers are written out here:
 * a store goes into its thread's buffer, and a process of its own carries it to memory at any later time, in order
 * (x86-TSO). A load takes the thread's own latest buffered store of that place, or memory. On weaker processors release
 * stores and acquire loads keep the same order of stores among themselves and of loads among themselves, and the one
 * reordering that matters, a store after a later load, is the one that is modelled.
 *
 * READERS readers take and release a view TAKES times each. One writer publishes PUBLICATIONS new states and frees what
 * no slot names. States are numbers; the writer takes the lowest free one, so that a freed number comes back at once, as
 * memory does. The claim is the assertion in `use`: a reader never reads a freed state, nor one that was freed and came
 * back as another.
 *
 * Each of these takes a part out, and the check must then fail:
 *   NO_READER_FENCE  the reader's compiler fence: the second load may run before the store to the slot
 *   NO_WRITER_FENCE  the writer's fence: its store may still wait, and so may those of readers, when it reads the slots
 *   NO_MEMBARRIER    half of it: the writer waits for its own store only
 *   NO_REREAD        the reader doesn't look at the current state again
 *   NO_SCAN          the writer frees without a look at the slots
 *   NO_RELEASE       the release of a slot may overtake the reads of the state before it
 * FULL_FENCE replaces the asymmetric fence by a full one on both sides, as where membarrier is missing; with it,
 * NO_READER_FENCE leaves out the reader's.
 */

#ifndef READERS
#define READERS 2
#endif
#ifndef PUBLICATIONS
#define PUBLICATIONS 2
#endif
#define STATES (READERS + 2)      /* One for each pin, the current one and the next one: more are never in use. */
#ifndef TAKES
#define TAKES 2
#endif

#define NONE 255

byte current = 0;          /* The state that is published, in memory. */
byte slot[READERS];        /* What each reader pins, in memory. */
bool alive[STATES];        /* Whether a state's memory is in use as that state. */
byte generation[STATES];   /* How often its number was used. */

/* The buffered store of a reader: the only place it writes is its own slot. Two stores may wait, the later behind. */
byte waiting[READERS];     /* How many. */
byte first[READERS];
byte second[READERS];

/* That of the writer, who stores nothing but `current`. */
bool publishing = false;
byte published;

/* A store into the buffer. A full buffer blocks the thread, as in a processor. */
inline store_slot(r, value) {
  atomic {
    waiting[r] < 2;
    if
    :: waiting[r] == 0 -> first[r] = value
    :: else -> second[r] = value
    fi;
    waiting[r]++
  }
}

/* Carries the oldest store of a reader to memory. */
inline drain_one(r) {
  d_step {
    slot[r] = first[r];
    first[r] = second[r];
    second[r] = NONE;
    waiting[r]--
  }
}

/* The processor, at any time. */
proctype buffer(byte r) {
end_buffer:
  do
  :: atomic { waiting[r] > 0 -> drain_one(r) }
  od
}

proctype writer_buffer() {
end_buffer:
  do
  :: atomic { publishing -> current = published; publishing = false }
  od
}

/* A read of the pinned state: it must be alive and the same life of it as when it was pinned. */
inline use(state, life) {
  atomic {
    assert(alive[state]);
    assert(generation[state] == life)
  }
}

proctype reader(byte r) {
  byte state, again, life, seen, takes;
  do
  :: takes == TAKES -> break
  :: takes < TAKES ->
     takes++;
     /* A load, and with it, for the claim only, which life of the state was seen. */
     atomic { state = current; life = generation[state] }       /* acquire */
     do
     :: true ->
#ifdef NO_READER_FENCE
        /* Without the fence the compiler, or the processor for the full fence, may run the load before the store. */
        if
        :: store_slot(r, state); atomic { again = current; seen = generation[again] }
        :: atomic { again = current; seen = generation[again] }; store_slot(r, state)
        fi;
#else
        store_slot(r, state);
#ifdef FULL_FENCE
        waiting[r] == 0;                   /* A full fence waits for its own buffer. */
#endif
        atomic { again = current; seen = generation[again] }    /* (2) acquire */
#endif
#ifdef NO_REREAD
        break
#else
        life = seen;
        if
        :: again == state -> break
        :: else -> state = again
        fi
#endif
     od;
     use(state, life);
#ifdef NO_RELEASE
     store_slot(r, NONE);
     use(state, life)
#else
     use(state, life);
     store_slot(r, NONE)                   /* (3) release */
#endif
  od
}

/* The writer's scan. Each slot is one load; other threads run between them. */
proctype writer() {
  byte next, s, r, number;
  bool pinned;
  for (number : 1 .. PUBLICATIONS) {
    d_step {
      !publishing;                         /* A buffer of one. */
      next = 0;
      do
      :: alive[next] -> next++
      :: else -> break
      od;
      alive[next] = true;
      generation[next]++;
      published = next;
      publishing = true                    /* (1) release, into the buffer */
    }

    /* The heavy fence: the writer's own buffer, and by the kernel's hand that of each reader, at some time during it. */
#ifndef NO_WRITER_FENCE
    !publishing;
#ifndef FULL_FENCE
#ifndef NO_MEMBARRIER
    r = 0;
    do
    :: r < READERS ->
       atomic {
         do
         :: waiting[r] > 0 -> drain_one(r)
         :: else -> break
         od
       };
       r++
    :: else -> break
    od;
#endif
#endif
#endif

    s = 0;
    do
    :: s < STATES ->
       if
       :: alive[s] && s != next ->
          pinned = false;
#ifndef NO_SCAN
          r = 0;
          do
          :: r < READERS ->
             if
             :: slot[r] == s -> pinned = true    /* (4) acquire */
             :: else
             fi;
             r++
          :: else -> break
          od;
#endif
          if
          :: !pinned -> alive[s] = false
          :: else
          fi
       :: else
       fi;
       s++
    :: else -> break
    od
  }
}

init {
  byte r;
  atomic {
    alive[0] = true;
    r = 0;
    do
    :: r < READERS ->
       slot[r] = NONE;
       first[r] = NONE;
       second[r] = NONE;
       run buffer(r);
       run reader(r);
       r++
    :: else -> break
    od;
    run writer_buffer();
    run writer()
  }
}
