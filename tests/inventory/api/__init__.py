"""REST of the inventory."""
