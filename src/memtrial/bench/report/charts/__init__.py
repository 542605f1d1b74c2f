"""Charts as SVG, drawn on the server: nothing to load, nothing to run, one picture for light, dark and print.

Shared by the report and the dashboard; knows nothing of any benchmark.
"""

from memtrial.bench.report.charts.bars import Bar, BarChart, BarGroup
from memtrial.bench.report.charts.heatmap import Cell, HeatMap, HeatRow
from memtrial.bench.report.charts.interval import Interval, IntervalAxis
from memtrial.bench.report.charts.line import Band, Line, LineChart
from memtrial.bench.report.charts.scale import padded
from memtrial.bench.report.charts.scatter import Scatter
from memtrial.bench.report.charts.svg import MIDDLE, NARROW, WIDE, Size

__all__ = [
    "MIDDLE",
    "NARROW",
    "WIDE",
    "Band",
    "Bar",
    "BarChart",
    "BarGroup",
    "Cell",
    "HeatMap",
    "HeatRow",
    "Interval",
    "IntervalAxis",
    "Line",
    "LineChart",
    "Scatter",
    "Size",
    "padded",
]
