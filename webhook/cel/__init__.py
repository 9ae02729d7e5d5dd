"""The only place that knows CEL: front end, generator of Python functions, library of functions."""
