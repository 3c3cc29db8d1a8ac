"""Where data come from, and what their columns are."""
