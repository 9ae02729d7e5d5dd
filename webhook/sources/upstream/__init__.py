"""Cozystack's own source tree → what the release catalogue says of it: one file for each place that facts stand in."""
