"""Who is near, who is far: by passes over all records, or in a k-d tree that forgets those assigned."""
