"""Evidence: risk before and after, utility lost, all with their definition."""
