"""Answers on real and simulated runs, beside what papers say of them."""
