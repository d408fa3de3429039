"""The exact potential: targets, models, workers and stored evaluations."""
