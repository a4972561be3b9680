/* The sessions of notes-protocol(7), "The end of a session", in Promela, for spin(1): scripts/model.
 *
 * DEVICES devices, each with a version of its own or not, and with what it has of the others'; a
 * session between each two of them, or with CHAIN between neighbours; SAVES more versions saved at
 * any time; with LOSS, the first one breaks at any moment. A set of heads is the set of versions that
 * it is made of. What is shown:
 *
 *   - A side ends with "done" only when what it told is at the other side and what that told is here,
 *     as far as directions and the limit of packs allow.
 *   - Nobody says "done" to a side that waits for a pack.
 *   - Every session ends, without any timeout: no state but the last has no way on, and no way goes
 *     in a circle.
 *
 * BREAK names a rule to leave out; then one of these must not hold.
 */

#ifndef DEVICES
#define DEVICES 2
#endif
#ifndef SAVES
#define SAVES 1
#endif
/* The limit of packs in a session, which is 4, so that few saves reach it. */
#ifndef PACKS
#define PACKS 2
#endif

/* Whether two sessions may fetch the same: one of them is slow, or both asked at one moment. */
#ifdef RACE
#define MAY_RACE true
#else
#define MAY_RACE false
#endif

#define NOTHING_SETTLED 255
#define VERSIONS (DEVICES + SAVES)
#define EVERYTHING ((1 << VERSIONS) - 1)

/* Rules to leave out. */
#define RULE(name) (BREAK != name)
#define NONE 0
#define SETTLE_BEFORE_DONE 1
#define HEARD_BEFORE_DONE 2
#define GIVE_BEFORE_DONE 3
#define ANSWER_WHAT_IS_KNOWN 4
#define HEARD_COUNTS_WHAT_IS_SETTLED 5
#define ANSWER_ONCE 6
#define CLOSE_AFTER_BYE 7
#ifndef BREAK
#define BREAK NONE
#endif

mtype = { HEADS, APPLIED, REFUSED, WANT, PACK, BYE }

/* Each side of a session: what it reads; whether its connection broke; how many packs it took. */
#define SIDES (DEVICES * (DEVICES - 1))
chan wire[SIDES] = [10] of { mtype, byte, byte };
bool lost[SIDES], ended[SIDES];
byte packs[SIDES];
/* What each device has, and what its sessions are fetching. */
byte has[DEVICES];
byte fetched[DEVICES];
byte saved = DEVICES;

#define lacks(a, b) ((b) & ~(a))
#define alike (own == theirs)
#define settles (!takes || settled == theirs || alike)
#define tell(mask) if :: mask != own -> own = mask; told++ :: else fi
#define hear(mask) if :: mask != theirs -> theirs = mask; heard++ :: else fi
#define send(kind, mask, count) \
  if \
  :: ended[there] -> skip \
  :: else -> assert(nfull(wire[there])); wire[there]!kind(mask, count) \
  fi
/* What differs in nothing but the past is one state. */
#define forget() mask = 0; count = 0
#define answer() \
  tell(has[me]); \
  if :: settles || !RULE(HEARD_COUNTS_WHAT_IS_SETTLED) -> answered = heard :: else fi; \
  send(APPLIED, own, answered)

/* One side of a session of `me` with `peer`, both of which want it to end. */
proctype side(byte me, peer, here, there, own, theirs; bool gives, takes) {
  byte first = own;
  byte told = 1, heard = 1, answered = 0, confirmed = 0;
  byte settled = NOTHING_SETTLED;
  byte asked = 0, given = 0;
  byte mask, count;

  do
  /* The heads here have changed: by a save, or by another session. */
  :: atomic { has[me] != own && (gives || takes) -> tell(has[me]); send(HEADS, own, 0) }

  :: atomic { wire[here]?HEADS(mask, count) -> hear(mask); forget() }
  :: atomic {
       wire[here]?APPLIED(mask, count) ->
       hear(mask);
       if :: count > confirmed -> confirmed = count :: else fi;
       forget()
     }

  /* Asked for versions, it gives them, which takes a while. */
  :: atomic { wire[here]?WANT(mask, count) -> assert(gives && lacks(has[me], mask) == 0); given = mask; forget() }
  :: atomic { given != 0 -> send(PACK, given, 0); given = 0 }

  /* "the peer told heads, and this side may take and lacks some": sends want. What another session
   * fetches is left to that one. */
  :: atomic {
       asked == 0 && !settles && packs[here] < PACKS &&
         lacks(has[me], theirs) != 0 &&
         (MAY_RACE || (lacks(has[me], theirs) & fetched[me]) == 0) ->
       asked = lacks(has[me], theirs);
       fetched[me] = fetched[me] | asked;
       send(WANT, asked, 0)
     }
#ifdef REFUSAL
  /* The guard against mass deletion refuses a pack; who learns it says bye failed. */
  :: atomic { wire[here]?PACK(mask, count) -> send(REFUSED, 0, 0); goto broken }
  :: atomic { wire[here]?REFUSED(mask, count) -> goto broken }
#endif
  /* "a pack came": merges, sends applied. */
  :: atomic {
       wire[here]?PACK(mask, count) ->
       assert(mask == asked);
       fetched[me] = fetched[me] & ~asked;
       asked = 0;
       packs[here]++;
       has[me] = has[me] | mask;
       if
       :: lacks(has[me], theirs) == 0 -> settled = theirs
       :: else -> settled = mask /* another pack is needed */
       fi;
       answer();
       forget()
     }
  /* What is known needs nothing, nor what comes after so many packs. */
  :: atomic {
       asked == 0 && !settles && (lacks(has[me], theirs) == 0 || packs[here] >= PACKS) ->
       settled = theirs
     }
  /* "all that the peer told is settled, the heads differ, and the peer gives": sends applied. */
  :: atomic {
       RULE(ANSWER_WHAT_IS_KNOWN) && asked == 0 && settles && !alike && takes &&
         (answered < heard || !RULE(ANSWER_ONCE)) ->
       answer()
     }

  /* "it is done": sends bye. */
  :: atomic {
       asked == 0 && (given == 0 || !RULE(GIVE_BEFORE_DONE)) &&
         (settles || !RULE(SETTLE_BEFORE_DONE)) &&
         (!gives || alike || confirmed >= told || !RULE(HEARD_BEFORE_DONE)) ->
       send(BYE, 0, 0);
       goto done
     }
  /* "bye done arrived, and this side waits for nothing that it asked for": closes. */
  :: atomic {
       wire[here]?BYE(mask, count) ->
       assert(asked == 0);
       forget();
       if :: RULE(CLOSE_AFTER_BYE) -> goto done :: else fi
     }
  :: atomic { lost[here] -> goto broken }
  od;

done:
  atomic {
    assert(!gives || lacks(has[peer], first) == 0 || packs[there] >= PACKS);
    assert(!takes || lacks(has[me], theirs) == 0 || packs[here] >= PACKS)
  }
broken:
  atomic {
    fetched[me] = fetched[me] & ~asked;
    do
    :: wire[here]?_(_, _)
    :: empty(wire[here]) -> break
    od;
    ended[here] = true;
    first = 0; own = 0; theirs = 0; told = 0; heard = 0; answered = 0; confirmed = 0; settled = 0;
    asked = 0; given = 0
  }
}

/* Somebody saves. */
proctype saver() {
  byte who;
  do
  :: saved < VERSIONS ->
     atomic {
       select(who : 0 .. DEVICES - 1);
       has[who] = has[who] | (1 << saved);
       saved++
     }
  :: break
  od
}

/* With PLAIN, versions go both ways everywhere, and nobody has anything of another one; but with
 * SHARED the first device has the version of the last one already. */
#ifdef PLAIN
#define choose(value) value = true
#define pick(value, most) value = 0
#else
#define choose(value) if :: value = true :: value = false fi
#define pick(value, most) select(value : 0 .. most)
#endif

inline open(one, other, number) {
  choose(forth);
  choose(back);
  run side(one, other, 2 * number, 2 * number + 1, has[one], has[other], forth, back);
  run side(other, one, 2 * number + 1, 2 * number, has[other], has[one], back, forth)
}

#ifdef LOSS
/* A connection breaks, or does not. */
proctype wrecker(byte number) {
  if
  :: atomic { lost[2 * number] = true; lost[2 * number + 1] = true }
  :: skip
  fi
}
#endif

init {
  bool forth, back;
  byte who, some;
  atomic {
    for (who : 0 .. DEVICES - 1) {
      /* What an earlier session brought, or broke off before it brought it. */
      pick(some, (1 << DEVICES) - 1);
      has[who] = some | (1 << who)
    }
#ifdef SHARED
    has[0] = has[0] | (1 << (DEVICES - 1));
#endif
    open(0, 1, 0);
#if DEVICES > 2
    open(1, 2, 1);
#ifndef CHAIN
    open(0, 2, 2);
#endif
#endif
#ifdef LOSS
    run wrecker(0);
#endif
    run saver()
  }
}
