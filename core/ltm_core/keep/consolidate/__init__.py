"""Many turns become few lines: which are due, what they are about, what is said of them, what may then be retired."""
