"""The exact potential: targets, models, who evaluates them, and what is kept of it."""
