"""Code generation: allocated blocks and a storage placement become one function's bytecode."""
