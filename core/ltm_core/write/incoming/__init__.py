"""What a call brings in: checked, redacted, aligned with what is stored, indexed."""
