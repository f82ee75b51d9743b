"""From a plan to stored predictions: one run, runs in parallel, inference. Needs the `lab` extra (`pip install .[lab]`)."""
