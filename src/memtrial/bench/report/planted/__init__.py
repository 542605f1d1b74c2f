"""The evidence on PlantedMem: the paper's tables and figures, ours beside published, and what goes past them."""

from memtrial.bench.report.planted.export import write_planted_tables
from memtrial.bench.report.planted.page import render_planted, write_planted_report

__all__ = ["render_planted", "write_planted_report", "write_planted_tables"]
