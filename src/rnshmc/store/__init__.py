"""Results on disk: chains, what is measured on them, and the tables made of that."""
