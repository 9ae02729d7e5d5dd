"""Every object of a live cluster → the pipeline → results: the run behind `audit`."""
