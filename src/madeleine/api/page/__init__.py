"""What only the page asks for, one module for each view: small, paged, never the whole store."""
