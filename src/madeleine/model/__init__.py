"""The values everything else speaks in: frozen, checked when made, without behaviour."""
