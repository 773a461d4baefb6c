"""Pareto frontiers between losses of one model: what a budget buys of each, draw by draw."""
