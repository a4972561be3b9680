// The Notebook module; see design in man/ and CONTRIBUTING.md.
