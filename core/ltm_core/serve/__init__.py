"""The memory as a service: HTTP API, keys, metrics. `ltm serve` starts it; extra ``server``."""
