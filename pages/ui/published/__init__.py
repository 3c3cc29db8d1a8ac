"""Parts of pages that show stored results."""
