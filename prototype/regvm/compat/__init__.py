"""The reference's interface: its compiler and executor classes, and a shim that takes the reference's place.

``regvm.compat.install()`` makes ``tvm.relay.vm``, ``tvm.runtime.vm`` and ``relay.create_executor("vm")`` mean the
register VM until ``uninstall()``; ``with installed():`` does both; ``pytest -p regvm.compat.plugin`` does it for
a test run.
"""

from regvm.compat.shim import install, installed, uninstall

__all__ = ["install", "installed", "uninstall"]
