"""What was told wrongly and is put right."""
