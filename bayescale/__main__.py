"""``python -m bayescale``."""

from bayescale.cli.app import main

main()
