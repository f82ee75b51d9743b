"""Figures and pages, made from a result's dictionary and arrays."""

from physrank.report.figure import png, ranking_figure
from physrank.report.html import html_report

__all__ = ["html_report", "png", "ranking_figure"]
