"""The native engine: bytecode to machine code in this process, through LLVM.

Agrees bit for bit with the interpreter, which is the specification. A program is first written as LLVM assembly
(``lowering``, with the run-time support of ``support``), which knows no address of this process; then compiled
(``machine_code``); a ``NativeEngine`` gives it a context, where everything that belongs to one machine lives.
"""
