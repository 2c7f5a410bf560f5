"""What encoder and decoder share: the header, the version, and the tags of types.

A file is the magic bytes, the version, and then functions, constants and kernels, each a count and its items.
Whole numbers are LEB128 (signed where they may be negative), strings and data a length and bytes. A file with
another major version is refused; one with a newer minor version too, since it may hold instructions that this
version does not know.
"""

MAGIC = b"RELAYREG"
VERSION = (2, 0)

TENSOR, TUPLE, OBJECT = 0, 1, 2
"""Tags of parameter types."""

UNKNOWN_DIMENSION = -1
"""How a dimension that is known only at run time is written."""
