"""Planning with more arms than exact enumeration can hold: prices, blocks, grids, pairs."""
