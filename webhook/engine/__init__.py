"""Deciding and explaining: pure and synchronous. Never awaits, opens, prints, reads a clock or a setting."""
