"""What happens to claims: ``lifecycle`` compares, the mirror of claims records."""
