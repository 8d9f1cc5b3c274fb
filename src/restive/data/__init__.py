"""From data to arms: reading traces and logs, fitting chains to them."""
