"""The report of a release: what it says, its figures, and the page that people sign."""
