"""What encloses numbers: outward rounding, round-off of compiled functions, norms of matrices, errors of transforms."""
