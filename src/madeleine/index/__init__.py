"""The derived index behind one port: it answers quickly and can always be thrown away."""
