"""The methods of `ltm_core.LongTermMemory`, by what they are for: each checks what it is given and finds the room."""
