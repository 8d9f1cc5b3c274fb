"""The paper's algorithms: colored UCRL2, the restless bandits algorithm and its extensions."""
