"""The small experiments of the papers: surrogates in one dimension, on a banana, on a Gaussian, and sweeps."""
