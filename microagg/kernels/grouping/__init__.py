"""How groups are formed and changed: around means that move or stay, by dissolving and dividing, and by assignment."""
