"""``python -m microagg``: the command line."""

from microagg.cli import main

main()
