"""What a language model may read, and what of its answer holds."""
