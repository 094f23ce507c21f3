"""What knows language: reading texts by tables and rules. Pure: no clock, no disk, no SQL."""
