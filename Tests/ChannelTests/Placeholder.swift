// Tests of Channel.
