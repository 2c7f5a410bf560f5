"""``tvm-vm``: the reference, TVM's Relay VM."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from relay_conformance.executors.lowering import build
from relay_conformance.executors.protocol import Figures
from relay_conformance.executors.reference_cache import compile_reference
from relay_conformance.program import Array, Program
from relay_conformance.tvm_api import tvm

_FUNCTION = re.compile(
    r"^VM Function\[\d+\]: (?P<name>.+?)\(.*\)\n# reg file size = (?P<registers>\d+)\n"
    r"# instruction count = (?P<instructions>\d+)$",
    re.MULTILINE,
)


def figures_from_listing(listing: str) -> Figures:
    """Registers and instructions, which the reference tells only in the headings of its listing."""
    functions = list(_FUNCTION.finditer(listing))
    return Figures(
        registers={function["name"]: int(function["registers"]) for function in functions},
        instructions=sum(int(function["instructions"]) for function in functions),
    )


@dataclass(frozen=True)
class TVMVirtualMachineExecutable:
    executable: Any

    def bind(self, inputs: Sequence[Array]) -> Callable[[], Any]:
        device = tvm.cpu()
        machine = tvm.runtime.vm.VirtualMachine(self.executable, device)
        arguments = [tvm.nd.array(array, device) for array in inputs]
        return lambda: machine.invoke("main", *arguments)

    def figures(self) -> Figures:
        return figures_from_listing(self.executable.bytecode)


@dataclass(frozen=True)
class TVMVirtualMachineExecutor:
    name: str = "tvm-vm"

    def compile(self, program: Program, target: str) -> TVMVirtualMachineExecutable:
        executable = build(lambda: compile_reference(program.module, target, program.params))
        return TVMVirtualMachineExecutable(executable)
