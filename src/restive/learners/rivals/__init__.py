"""Rivals: learners from the literature, each as its paper has it."""
