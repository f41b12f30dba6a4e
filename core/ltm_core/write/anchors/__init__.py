"""What is worth keeping by its sort: identifiers, confirmations, references, requests to remember."""
