"""The problem: chains, arms, bandits, and the files that describe them."""
