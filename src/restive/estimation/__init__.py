"""Estimating one chain from what was seen of it at gaps; used by fits and by learners."""
