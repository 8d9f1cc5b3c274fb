"""The paper, claim by claim, as a page."""
