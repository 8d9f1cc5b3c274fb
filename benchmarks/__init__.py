"""Speed of restive beside its peers, measured in one run on the same problems."""
