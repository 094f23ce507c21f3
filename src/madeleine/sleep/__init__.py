"""What runs unasked: the jobs that tend the memory while nobody looks."""
