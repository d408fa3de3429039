"""Figures and the report. Every figure function takes tidy data and returns a matplotlib figure."""
