"""What the page Step by step is made of."""
