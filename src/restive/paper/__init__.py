"""The paper as experiments: every claim that can be checked, what was run, and a verdict.

``claim`` says what a claim is, ``criteria`` holds every number a verdict depends on, ``catalogue``
lists the claims in the order of the paper, ``running`` runs them and ``report`` writes them down.
"""
