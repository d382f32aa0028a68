"""``python -m waypost``: the command line."""

from waypost.cli import main

main()
