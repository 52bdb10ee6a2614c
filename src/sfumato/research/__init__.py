"""What a table's detail is worth to those who will study it: rules, weights, the value of every level."""
