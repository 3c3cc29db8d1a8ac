"""Which records are near and which are far: by passes over all of them, or in a k-d tree from which they are removed.

- ``brute_force``: unassigned records, column by column, and passes over them.
- ``mixed_pool``: the same for numeric, ordinal and nominal attributes together.
- ``kd_tree``: a k-d tree from which records can be removed.
- ``tree_queries``: what is nearest or farthest in it.
- ``tree_pool``: unassigned records in such a tree.
- ``crossover``: from how many records on the tree is faster.
- ``lookahead``: neighbors found on all cores before they are needed.
- ``farthest_from_mean``: the record farthest from a moving centroid.
- ``farthest_pair``: the two unassigned records farthest apart.
- ``k_neighborhoods``: every record with its k-1 nearest, kept up to date.
- ``approximate``: records about as near as any.
- ``knn_graph``: the nearest records of every record.
"""
