// The Sync module; see design in man/ and CONTRIBUTING.md.
