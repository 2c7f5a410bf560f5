"""Subcommands of ``relay-conformance``, one a file; each imports TVM and TensorFlow only where it needs them."""
