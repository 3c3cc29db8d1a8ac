"""How groups are formed and changed.

- ``groups``: groups under construction, and the records that join them.
- ``growing``: groups that take in the record nearest to their moving centroid.
- ``moving_mean``: groups around the records farthest from the mean of the unassigned: the loop of MDAV and CBFS.
- ``fixed_mean``: groups around the records farthest from the mean of all data: the loop of MDAV+, V-MDAV and MDAV*.
- ``isolation``: the records that V-MDAV may add to a group.
- ``centroid_index``: the group that a record joins at the least cost, for MDAV*.
- ``dissolve``: groups given up where that lowers the SSE, and large groups split.
- ``spanning_tree``: trees over the records, and their division.
- ``assignment``: the best assignment to given centroids, with bounds on the sizes.
"""
