"""What studies share: cases with their scores, tables, and drawing."""
