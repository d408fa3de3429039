"""Decisions about reruns: digests of each job's code, and old results that are kept until they are replaced."""
