"""The derived index behind three ports: it answers quickly and can always be thrown away."""
