"""Reading and writing in SQL that SQLite and PostgreSQL both understand; what an engine alone knows stands beside.

Statements are written with ``?`` and take integers, floats, bytes, text and None; booleans are the integers 0 and 1.
"""
