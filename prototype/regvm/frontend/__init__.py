"""Relay in, intermediate representation and kernels out; the only compiler package that knows TVM."""
