"""Published methods, one a file."""
