"""Lower bounds on the SSE: the compiled parts of linear programs, their cutting planes, and of a decomposition."""
