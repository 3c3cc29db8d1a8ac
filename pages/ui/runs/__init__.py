"""Running algorithms: jobs, and the parts of pages that run them."""
