"""``python -m regvm``."""

import sys

from regvm.cli import main

sys.exit(main())
