// Tests of Discovery.
