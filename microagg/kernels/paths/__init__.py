"""Orders of records, and the optimal split of an order into groups."""
