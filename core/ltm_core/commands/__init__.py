"""The command line, one module per group of commands. `ltm_core.cli` puts them together."""
