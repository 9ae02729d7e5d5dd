"""The words everybody uses: frozen dataclasses, no I/O, no behaviour that needs anything else."""
