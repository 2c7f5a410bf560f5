"""What users call: compile a module, hold, save and load the executable.

Named and shaped like ``tvm.relay.vm`` and ``tvm.runtime.vm``, so that changing the import is enough.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regvm import binary, bundle, compiler, verifier
from regvm.cache import compilations
from regvm.cache import kernels as cached_kernels
from regvm.errors import ArgumentError
from regvm.executable import Constant, Function, Program
from regvm.frontend import fingerprint, source, translate
from regvm.native import availability, shared_object
from regvm.native.code import Code
from regvm.runtime.kernels import late_bound, library
from regvm.runtime.kernels import native as tvm_native
from regvm.text import listing

# The runtime is below the native engine and must not import it, so the two are joined here.
availability.register()


@dataclass
class Executable:
    """A verified program with the library of its kernels, shared by any number of machines.

    ``notes`` says what the compiler had to leave out, such as an optimisation that failed; ``code`` is the machine
    code of an executable that was compiled ahead of time. The program is immutable; taking late-bound constants out
    or in puts another one in its place, for machines made after that.
    """

    program: Program
    lib: Any
    notes: tuple[str, ...] = ()
    code: Code | None = None

    @property
    def functions(self) -> tuple[Function, ...]:
        """Each with name, params, num_registers, instructions, storage_bytes and max_live."""
        return self.program.functions

    @property
    def bytecode(self) -> str:
        """The listing."""
        return listing.show_program(self.program)

    @property
    def stats(self) -> str:
        """Counts, a line each."""
        return listing.show_stats(self.program)

    @property
    def constants(self) -> tuple[Constant, ...]:
        """The constant pool."""
        return self.program.constants

    @property
    def primitives(self) -> tuple[str, ...]:
        """The kernels' names by number."""
        return tuple(k.name for k in self.program.kernels)

    @property
    def globals(self) -> tuple[str, ...]:
        """The functions' names by number."""
        return tuple(f.name for f in self.program.functions)

    @property
    def primitive_ops(self) -> list[str]:
        """The kernels' names by number."""
        return list(self.primitives)

    @property
    def virtual_devices(self) -> tuple[str, ...]:
        """The devices by number: the CPU."""
        return ("cpu",)

    def get_function_params(self, func_name: str) -> list[str]:
        """The names of a function's parameters. Raises ArgumentError for a function that does not exist."""
        numbers = self.program.index_of()
        if func_name not in numbers:
            raise ArgumentError(f"there is no function @{func_name}; the executable has {', '.join(numbers)}")
        return list(self.program.functions[numbers[func_name]].params)

    def get_late_bound_consts(self, byte_limit: int) -> dict[str, Any]:
        """Take constants of ``byte_limit`` bytes or more out of the program, by name as NDArrays."""
        constants, taken = late_bound.take_out(self.program.constants, byte_limit)
        self.program = dataclasses.replace(self.program, constants=constants)
        return taken

    def move_late_bound_consts(self, path: str | os.PathLike[str], byte_limit: int) -> None:
        """Move constants of ``byte_limit`` bytes or more into a file."""
        late_bound.write(path, self.get_late_bound_consts(byte_limit))

    def load_late_bound_consts_from_map(self, map: Mapping[str, Any]) -> None:
        """Put late-bound constants back. Raises ArgumentError for a missing, unused or ill-typed one."""
        constants = late_bound.put_in(self.program.constants, map)
        self.program = dataclasses.replace(self.program, constants=constants)

    def load_late_bound_consts(self, path: str | os.PathLike[str]) -> None:
        """Put late-bound constants back from a file. Raises FormatError for a file that holds none."""
        self.load_late_bound_consts_from_map(late_bound.read(path))

    def save(self) -> tuple[bytearray, Any]:
        """The program's bytes, and the kernel library as it is."""
        return bytearray(binary.encode(self.program)), self.lib

    @staticmethod
    def load_exec(bytecode: bytes | bytearray, lib: Any) -> Executable:
        """The executable of ``save``. Raises FormatError or VerificationError for bytes that are none."""
        program = binary.decode(bytes(bytecode))
        verifier.assert_verified(program)
        return Executable(program, lib)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write program and kernels to one file, for ``load``."""
        texts = library.to_text(self.lib) if self.lib is not None else []
        bundle.write(path, binary.encode(self.program), texts)

    def export_native(self, path: str | os.PathLike[str]) -> None:
        """Compile ahead of time: write machine code, kernels and program to a shared object, for ``load``.

        It takes llvmlite and a linker, and the result neither. Raises CompileError where one of them is missing.
        """
        availability.require_llvmlite()
        shared_object.write(
            path,
            self.program,
            binary.encode(self.program),
            tvm_native.dtype_word,
            lambda folder: library.to_objects(self.lib, folder) if self.lib is not None else [],
        )


def load(path: str | os.PathLike[str]) -> Executable:
    """The executable that ``export`` or ``export_native`` wrote. Raises FormatError for another file."""
    if shared_object.is_one(path):
        compiled = shared_object.load(path)
        loaded = Executable.load_exec(compiled.bytecode(), library.from_shared_object(path))
        return dataclasses.replace(loaded, code=compiled)
    code, texts = bundle.read(path)
    return Executable.load_exec(code, library.from_text(texts) if texts else None)


def compile(
    mod: Any,
    target: Any = "llvm",
    target_host: Any = None,
    params: Mapping[str, Any] | None = None,
    *,
    check: bool = False,
    register_limit: int | None = None,
    entries: Sequence[str] = (source.MAIN,),
    storage_strategy: str = "default",
) -> Executable:
    """Compile a Relay module or function under the current PassContext.

    ``params`` binds parameters of ``main`` by name. ``check`` proves the allocation and the storage plan of
    every function. ``register_limit`` is the most registers that a function may use; beyond it values are spilled.
    ``entries`` are the functions that will be invoked; what they do not reach is left out.
    ``storage_strategy`` is how tensors are placed in the arena, by one of the names that ``regvm plan`` takes.

    Raises CompileError for a module that is ill-typed or that a required pass refuses, or for a limit that is too
    small, UnknownStrategyError for a strategy that does not exist, and UnsupportedError for a construct that the
    register VM lacks; all name the place.
    """
    options = compiler.Options(check, register_limit, storage_strategy)
    key = compilations.key_of(
        f"regvm {fingerprint.own_code()}",
        source.as_module(mod),
        source.choose_target(target, target_host),
        params,
        dataclasses.asdict(options) | {"entries": list(entries)},
    )
    kept = compilations.find(key)
    if kept is None:
        kept = _generate(source.lower(mod, target, target_host, params, entries=entries), options)
        compilations.keep(key, kept)
    else:
        for note in kept.notes:
            warnings.warn(note, RuntimeWarning, stacklevel=2)
    return _executable(kept)


def generate(
    lowered: source.LoweredSource,
    *,
    check: bool = False,
    register_limit: int | None = None,
    storage_strategy: str = "default",
) -> Executable:
    """The second half of ``compile``: bytecode and kernels of a lowered module."""
    return _executable(_generate(lowered, compiler.Options(check, register_limit, storage_strategy)))


def _generate(lowered: source.LoweredSource, options: compiler.Options) -> compilations.Compilation:
    module, prim_funcs = translate.translate(lowered.module, lowered.entries)
    program = compiler.generate(module, options)
    library = cached_kernels.build(
        prim_funcs, lowered.target, lambda: translate.translate(lowered.plainly(), lowered.entries)[1]
    )
    return compilations.Compilation(binary.encode(program), library, lowered.notes)


def _executable(compilation: compilations.Compilation) -> Executable:
    loaded = Executable.load_exec(compilation.code, compilation.library.module)
    return dataclasses.replace(loaded, notes=compilation.notes)
