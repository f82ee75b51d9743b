"""Shared test set-up: every test computes in float64, as the package does."""

import pytest

from physrank import double


@pytest.fixture(autouse=True)
def _float64():
    with double():
        yield
