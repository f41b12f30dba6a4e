"""The word knowledge of the write path and the tools that read text by it."""
