"""Pieces of pictures that several pages share."""
