// Tests of Git.
