"""A run as one HTML page that opens offline: the verdict first, then everything it rests on."""

from memtrial.bench.report.page import environment, render, write_report

__all__ = ["environment", "render", "write_report"]
