"""The binary form of a program: encoder and decoder, both derived from the instruction table."""

from regvm.binary.decoder import decode
from regvm.binary.encoder import encode

__all__ = ["decode", "encode"]
