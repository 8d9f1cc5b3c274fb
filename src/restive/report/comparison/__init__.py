"""A comparison of learners as a page, Markdown, figures and tables."""
