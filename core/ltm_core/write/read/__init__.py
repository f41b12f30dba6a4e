"""From a message to clauses: who each speaks of, and whether it is the user's plain word."""
