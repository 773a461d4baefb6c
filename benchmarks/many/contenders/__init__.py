"""One file a contender; each runs in a process of its own."""
