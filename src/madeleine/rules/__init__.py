"""Pure arithmetic: every formula once. No clock, no disk, no SQL; numbers in, numbers out."""
