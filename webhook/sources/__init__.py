"""Everything that reads the outside world for inputs: files, and later the cluster."""
