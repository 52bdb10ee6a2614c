"""What to ask for, said before anything is changed."""
