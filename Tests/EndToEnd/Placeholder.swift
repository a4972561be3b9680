// End-to-end tests.
