"""Running chains: recipes (named samplers), the chain loop, and its phases explore, fit and exploit."""
