"""Planning for slow arms and many arms: prices, blocks, grids, pairs, policies, a scheduler."""
