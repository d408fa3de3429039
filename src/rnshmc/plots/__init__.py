"""Figures. Every function takes tidy data and returns a matplotlib figure."""
