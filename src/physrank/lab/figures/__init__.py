"""The paper's figures, redrawn from stored results in one style."""
