"""Requests in the chat to forget something or to leave it unmentioned."""
