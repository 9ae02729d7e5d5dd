"""The Kubernetes API as a client sees it: requests, watches, and a cache of what policies look up."""
