"""Risk: how far a record of the table can be told apart from the others."""
