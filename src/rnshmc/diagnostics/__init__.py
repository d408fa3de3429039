"""What a chain is worth: effective sample sizes, the error of its means, and whether it agrees with a reference."""
