"""Does every machine that runs Relay agree with every other, bit for bit, and with TensorFlow?

``regvm`` is imported first, here, because it loads TVM in the one way that lets TensorFlow share the process.
"""

import regvm as _regvm  # noqa: F401
