// Tests of Watch.
