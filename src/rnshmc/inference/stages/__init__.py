"""The stages of a run, each from a state to a state."""
