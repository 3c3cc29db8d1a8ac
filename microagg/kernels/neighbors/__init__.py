"""Which records are near and which are far: by passes over all of them, or in a k-d tree that they leave."""
