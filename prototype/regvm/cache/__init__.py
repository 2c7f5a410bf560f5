"""The cache on disk: kernels by their content, and whole compilations by theirs.

Most of a compilation is constant folding, which compiles and runs kernels of its own inside TVM, and LLVM. A
kernel is kept under a digest of its PrimFunc, so that programs that differ share kernels, and so that TVM's VM
can use them too; a compilation under a digest of the module, its weights and the compiler, because only that
saves the Relay passes. Both are entries of one store, and a compilation names its kernels instead of holding them.
"""
