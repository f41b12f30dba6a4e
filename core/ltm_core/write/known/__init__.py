"""What is known already, and how words are compared with it."""
