"""`python -m madeleine` is the same as `madeleine`."""

from madeleine.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
