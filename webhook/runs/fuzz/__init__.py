"""`test --fuzz`: objects that nobody wrote, made of those of the cases and of the schemas of their kinds."""
