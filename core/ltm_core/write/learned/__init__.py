"""Weights learned from examples, and what they say of words and vectors."""
