// Tests of notes.
