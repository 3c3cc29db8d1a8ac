"""What the page Step by step is made of: the records that are watched, the player, exercises, the guided tour."""
