"""Lower bounds on the SSE: the compiled parts of linear programs, and their cutting planes."""
