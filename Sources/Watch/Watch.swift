// The Watch module; see design in man/ and CONTRIBUTING.md.
