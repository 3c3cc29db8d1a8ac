"""The report on a release that a data protection officer signs: its contents, its figures and the document itself."""
