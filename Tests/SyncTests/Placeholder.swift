// Tests of Sync.
