"""What the methods of local recoding share: the columns' geometry, cuts, clusters, labels."""
