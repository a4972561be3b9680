// Tests of Membership.
