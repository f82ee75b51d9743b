"""Candidate libraries: their plan, training, checkpoints and stored predictions."""
