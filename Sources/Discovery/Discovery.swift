// The Discovery module; see design in man/ and CONTRIBUTING.md.
