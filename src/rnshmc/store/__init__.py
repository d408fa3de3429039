"""What stages leave on disk: chains, reference runs, timings, and what they rest on."""
