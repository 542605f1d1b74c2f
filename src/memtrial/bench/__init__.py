"""Benchmarks: what memory is worth, measured."""
