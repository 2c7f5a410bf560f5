"""The intermediate representation: basic blocks with parameters, over virtual registers in SSA form."""

from regvm.ir.function import Block, Function, Module

__all__ = ["Block", "Function", "Module"]
