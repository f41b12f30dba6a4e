"""From clauses to drafts and candidates: relation, value, validity."""
