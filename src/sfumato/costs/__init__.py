"""What a generalization costs: formulas shared by searches and measures."""
