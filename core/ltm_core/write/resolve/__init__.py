"""Candidates meet what is known: the decisions."""
