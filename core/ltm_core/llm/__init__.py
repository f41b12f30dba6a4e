"""Language models as extractors: what they are asked, how their answers are read, and one client of our own."""
