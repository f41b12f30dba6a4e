"""What a text is made of: language, words, sentences, chunks, tokens. Pure: no store, no clock, no network."""
