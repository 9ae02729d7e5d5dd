"""cozyguard: policy as code for Cozystack clusters."""

__version__ = "0.1.0"
