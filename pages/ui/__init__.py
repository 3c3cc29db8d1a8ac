"""What the pages share; nothing here is a page."""
