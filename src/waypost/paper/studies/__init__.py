"""The paper's tables and figure measured on this machine, and the race against the peers."""
