"""Writing claims: the text of a draft, what it means, and what would become of it."""
