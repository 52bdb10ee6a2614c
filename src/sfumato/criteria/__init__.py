"""The criteria: one privacy model a file, and the registry that lists them."""
