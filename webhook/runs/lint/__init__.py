"""`cozyguard lint`: what policies get wrong whatever objects come, told from their expressions and from schemas."""
