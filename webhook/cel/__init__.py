"""The only place that knows CEL: the front end, the generator of Python functions, the library of functions."""
