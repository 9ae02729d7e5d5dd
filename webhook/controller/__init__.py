"""What one replica does for all: certificates, webhook configurations and status, kept in step with the policies."""
