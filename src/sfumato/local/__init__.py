"""Local recoding by a greedy sweep, its polish, its search by neighbourhoods, and the bound on them all."""
