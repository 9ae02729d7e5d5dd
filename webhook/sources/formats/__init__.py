"""The documents people write, as pydantic models: each checks one mapping and builds the model's words."""
