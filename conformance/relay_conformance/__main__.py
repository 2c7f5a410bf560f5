"""``python -m relay_conformance``."""

import sys

from relay_conformance.cli import main

sys.exit(main())
