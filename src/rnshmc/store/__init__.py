"""Files of the stages: chains, reference runs, timings, and their provenance."""
