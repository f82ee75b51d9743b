"""Figures and pages, made from a result's dictionary and arrays."""

from physrank.report.dataset import dataset
from physrank.report.figure import drawn, png, ranking_figure
from physrank.report.html import html_report
from physrank.report.page import page_of
from physrank.report.race import race_figure, race_in_words
from physrank.report.words import in_words

__all__ = [
    "dataset",
    "drawn",
    "html_report",
    "in_words",
    "page_of",
    "png",
    "race_figure",
    "race_in_words",
    "ranking_figure",
]
