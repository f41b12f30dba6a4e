"""Cold memory: turns of long ago in Parquet files, one folder per user, read when they are asked for."""
