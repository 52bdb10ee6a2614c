"""What the methods that slice share: correlation, column groups, buckets, matching probabilities."""
