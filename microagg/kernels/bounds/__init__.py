"""What no partition can be better than: the compiled parts of the two programs, and the optimum of very few records."""
