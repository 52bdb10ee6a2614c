"""What the methods share whose releases are drawn: sampled records, noisy counts, chosen partitions."""
