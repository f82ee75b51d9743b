"""Independent reference solutions: other discretisations than the instrument's, with refinement error bars."""
