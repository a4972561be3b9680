/* Visits to a hub by several processes of one notebook (a watcher, `notes sync --hub`), in Promela, for
 * spin(1): scripts/model. notes-hub(7), "A visit".
 *
 * PROCESSES processes share a notebook and visit the same hub; meanwhile somebody saves in the notebook,
 * and another device moves the hub's branch. A set of heads is the set of versions that it is made of.
 * What is shown:
 *
 *   - Every visit ends, without any timeout: no state but the last has no way on, and no way goes in a circle.
 *   - The hub then has all that the visit showed, and the notebook all that the hub showed.
 *
 * BREAK names a rule to leave out; then one of these must not hold.
 */

#ifndef PROCESSES
#define PROCESSES 2
#endif

#define RULE(name) (BREAK != name)
#define NONE 0
#define READ_NOTEBOOK 1
#define PUSH_WHERE_IT_STOOD 2
#define LOOK_AFTER_LOSS 3
#ifndef BREAK
#define BREAK NONE
#endif

#define NOTHING_SETTLED 255
#define lacks(a, b) ((b) & ~(a))

/* The versions that the notebook and the hub begin with, the one that is saved, the other device's. */
byte notebook = 1, hub = 2;
#define SAVED 4
#define OTHERS 8
byte given = 2;

proctype visit() {
  byte own, theirs, pushed, settled = NOTHING_SETTLED;

  own = notebook;
  /* The fetch, however long it takes. */
  theirs = hub;
  do
  /* What this notebook shows is read each time, whoever changed it. */
  :: atomic { RULE(READ_NOTEBOOK) && own != notebook -> own = notebook; settled = NOTHING_SETTLED }
  /* Merges what came; another process may have. */
  :: atomic { settled != theirs && lacks(notebook, theirs) != 0 -> notebook = notebook | theirs; own = notebook; settled = theirs }
  :: atomic { settled != theirs && lacks(notebook, theirs) == 0 -> settled = theirs }
  /* Pushes on the condition that the branch stands where it was seen; else it looks again. */
  :: atomic {
       settled == theirs && own != theirs && lacks(own, theirs) == 0 -> pushed = own
     }
     if
     :: atomic { hub == theirs || !RULE(PUSH_WHERE_IT_STOOD) -> hub = pushed; theirs = pushed; settled = theirs }
     :: atomic { hub != theirs -> if :: RULE(LOOK_AFTER_LOSS) -> theirs = hub :: else fi }
     fi
  :: atomic { settled == theirs && own == theirs -> break }
  od;
  atomic {
    assert(lacks(hub, own) == 0);
    assert(lacks(notebook, theirs) == 0);
    assert(lacks(hub, given) == 0);
    own = 0; theirs = 0; pushed = 0; settled = 0
  }
}

proctype saver() { if :: notebook = notebook | SAVED :: skip fi }

proctype other() { if :: atomic { hub = hub | OTHERS; given = given | OTHERS } :: skip fi }

init {
  byte number;
  atomic {
    for (number : 1 .. PROCESSES) { run visit() }
    run saver();
    run other()
  }
}
