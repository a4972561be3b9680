// The Membership module; see design in man/ and CONTRIBUTING.md.
