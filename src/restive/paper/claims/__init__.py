"""The claims of the paper, one module a family."""
