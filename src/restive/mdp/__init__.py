"""The Markov decision process of information states, and the one solver."""
