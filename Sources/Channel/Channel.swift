// The Channel module; see design in man/ and CONTRIBUTING.md.
