"""Output formats: they receive results and write text, nothing else."""
