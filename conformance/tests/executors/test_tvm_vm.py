"""The reference's figures are read off its listing."""

from relay_conformance.executors.tvm_vm import TVMVirtualMachineExecutor, figures_from_listing
from relay_conformance.program import Program, program_from_module
from relay_conformance.tvm_api import relay


def test_registers_and_instructions_of_every_function() -> None:
    module = relay.fromtext(
        '#[version = "0.0.5"]\n'
        "def @double(%x: int32) -> int32 { add(%x, %x) }\n"
        "def @main(%x: int32) -> int32 { @double(multiply(%x, 3)) }"
    )
    executable = TVMVirtualMachineExecutor().compile(program_from_module(module), "llvm")
    figures = executable.figures()
    assert set(figures.registers) == {"double", "main"}
    listing = executable.executable.bytecode
    assert figures.instructions == sum(line.lstrip()[:1].isdigit() for line in listing.splitlines())


def test_the_figures_count_what_the_listing_shows(pair_program: Program) -> None:
    listing = TVMVirtualMachineExecutor().compile(pair_program, "llvm").executable.bytecode
    figures = figures_from_listing(listing)
    assert f"# reg file size = {figures.registers['main']}\n" in listing
    assert f"# instruction count = {figures.instructions}\n" in listing


def test_a_listing_without_functions_has_no_figures() -> None:
    figures = figures_from_listing("")
    assert (dict(figures.registers), figures.instructions) == ({}, 0)
