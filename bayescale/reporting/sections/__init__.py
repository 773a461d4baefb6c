"""The parts of a report, one a file: each a function from a `Study` to blocks."""
