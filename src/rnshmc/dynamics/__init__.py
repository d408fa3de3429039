"""Metrics of the kinetic energy and the integrators of Hamilton's equations."""
