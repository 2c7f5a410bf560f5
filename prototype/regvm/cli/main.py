"""The commands of ``regvm``. Bad input is one line on standard error."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from regvm import bundle, verifier
from regvm.api import Executable
from regvm.binary import encode
from regvm.cli import inputs as run_inputs
from regvm.cli import loading, report
from regvm.cli.loading import CompileOptions, Form
from regvm.cli.options import compile_options, json_option
from regvm.cli.plan import plan_command
from regvm.cli.progress import working
from regvm.errors import (
    ArgumentError,
    CheckError,
    CompileError,
    ExecutionError,
    FormatError,
    RegvmError,
    UnsupportedError,
    VerificationError,
)
from regvm.runtime import engines
from regvm.runtime.machine import VirtualMachine
from regvm.text import listing
from regvm.text.assembler import assemble

HOLDS, VIOLATED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


@click.group(no_args_is_help=False)
@click.version_option(package_name="relay-regvm")
def cli() -> None:
    """A register-based virtual machine for TVM's Relay."""


cli.add_command(plan_command)


@cli.command(name="compile")
@click.argument("model")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="The executable to write."
)
@click.option(
    "--native", is_flag=True, help="Write a shared object with machine code, which runs without compiling."
)
@compile_options
@json_option
def compile_command(model: str, output: Path, native: bool, json_output: bool, **options: Any) -> int:
    """Compile MODEL, Relay text or JSON in a file or - for standard input, to an executable."""
    _require_folder(output)
    source = loading.read(model)
    if source.form not in (Form.RELAY_TEXT, Form.RELAY_JSON):
        raise FormatError(f"{model}: this is {source.form.value}; compile takes Relay text or JSON")
    started = time.perf_counter()
    exe = loading.executable_of(source, CompileOptions(**options))
    seconds = time.perf_counter() - started
    with working(f"writing {output}"):
        (exe.export_native if native else exe.export)(output)
    if json_output:
        report.write_json(report.summary(exe) | {"compile_s": seconds, "file_bytes": output.stat().st_size})
    else:
        report.print_summary(exe, f"{output}: {output.stat().st_size:,} bytes, compiled in {seconds:.2f} s")
    return HOLDS


@cli.command()
@click.argument("file")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="An argument of the function."
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of all other arguments."
)
@click.option("--function", default="main", show_default=True, help="What to run.")
@click.option("--engine", default="auto", show_default=True, type=click.Choice(engines.names()))
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE.npz", help="Write the results here.")
@compile_options
@json_option
def run(
    file: str,
    inputs: tuple[str, ...],
    seed: int,
    function: str,
    engine: str,
    output: Path | None,
    json_output: bool,
    **options: Any,
) -> int:
    """Run FILE, a saved executable, a shared object or Relay, on given or random arguments."""
    if output is not None:
        _require_folder(output)
    given = run_inputs.read_inputs(inputs)
    exe = loading.executable_of(loading.read(file), CompileOptions(**options))
    numbers = exe.program.index_of()
    if function not in numbers:
        raise ArgumentError(f"there is no function @{function}; {file} has {', '.join(sorted(numbers))}")
    arguments = run_inputs.arguments(exe.functions[numbers[function]], given, seed)
    with working(f"running @{function}"):
        machine = VirtualMachine(exe, engine=engine)
        machine.set_input(function, *arguments)
        started = time.perf_counter()
        result = machine.invoke(function)
        seconds = time.perf_counter() - started
    arrays = list(report.arrays(result))
    if output is not None:
        _write_arrays(output, dict(arrays))
    if json_output:
        outputs = [report.array_json(path, array) for path, array in arrays]
        peak = machine.peak_intermediate_bytes
        report.write_json(
            {"seed": seed, "outputs": outputs, "run_s": seconds, "peak_intermediate_bytes": peak}
        )
    else:
        report.print_arrays(arrays)
        click.echo(
            f"seed {seed}: {seconds * 1000:.3f} ms, {machine.peak_intermediate_bytes:,} bytes of intermediates"
        )
    return HOLDS


@cli.command()
@click.argument("file")
@click.option(
    "--data", is_flag=True, help="List every constant in full, so that 'regvm asm' needs nothing else."
)
@compile_options
@json_option
def dis(file: str, data: bool, json_output: bool, **options: Any) -> int:
    """List the bytecode of FILE, a saved executable or Relay."""
    program = loading.executable_of(loading.read(file), CompileOptions(**options)).program
    if json_output:
        report.write_json(report.code(program))
    else:
        text = listing.show_program(program, None) if data else listing.show_program(program)
        click.echo(text, nl=False)
    return HOLDS


@cli.command()
@click.argument("file")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="The executable to write."
)
@click.option(
    "--from",
    "origin",
    metavar="EXECUTABLE",
    help="Takes kernels, and constants that are not in full, from here.",
)
@json_option
def asm(file: str, output: Path, origin: str | None, json_output: bool) -> int:
    """Assemble FILE, a listing as 'regvm dis' writes it, to an executable."""
    _require_folder(output)
    source = loading.read(file)
    if source.form is not Form.LISTING:
        raise FormatError(
            f"{file}: this is {source.form.value}; asm takes a listing, as 'regvm dis' writes it"
        )
    held: list[bytes] = []
    kernels: list[str] = []
    if origin is not None:
        kernels = bundle.read(origin)[1]
        constants = loading.program_of(loading.read(origin)).constants
        held = [c.data for c in constants if c.data is not None]
    program = assemble(source.text, held)
    verifier.assert_verified(program)
    bundle.write(output, encode(program), kernels)
    exe = Executable(program, None)
    if json_output:
        report.write_json(report.summary(exe) | {"file_bytes": output.stat().st_size})
    else:
        report.print_summary(exe, f"{output}: {output.stat().st_size:,} bytes")
    return HOLDS


@cli.command()
@click.argument("file")
@compile_options
@json_option
def verify(file: str, json_output: bool, **options: Any) -> int:
    """Verify FILE: a saved executable, a listing, or Relay, whose allocations are proved too."""
    source = loading.read(file)
    if source.form in (Form.EXECUTABLE, Form.SHARED_OBJECT, Form.LISTING):
        program = loading.program_of(source)
    else:
        program = loading.executable_of(source, CompileOptions(**options | {"check": True})).program
    found = verifier.verify(program)
    if json_output:
        report.write_json({"valid": not found, "violations": report.violations(found)})
    else:
        for violation in found:
            click.echo(str(violation))
        click.echo(f"{file}: {len(found)} violations" if found else f"{file}: valid")
    return VIOLATED if found else HOLDS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the console script exits with what this returns."""
    try:
        status = cli.main(args=arguments, prog_name="regvm", standalone_mode=False)
    except click.ClickException as error:
        return _complain(error.format_message(), BAD_INPUT)
    except (ArgumentError, CompileError, FormatError, UnsupportedError) as error:
        return _complain(str(error), BAD_INPUT)
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error), BAD_INPUT)
    except (CheckError, ExecutionError, VerificationError, RegvmError) as error:
        return _complain(str(error), VIOLATED)
    except click.Abort:
        return _complain("interrupted", INTERRUPTED)
    return status if isinstance(status, int) else HOLDS


def _complain(message: str, status: int) -> int:
    click.echo(f"regvm: {' '.join(message.split())}", err=True)
    return status


def _require_folder(output: Path) -> None:
    """Found out before the work, not after it."""
    if not output.parent.is_dir():
        raise click.UsageError(f"{output}: there is no folder {output.parent}")
    if output.is_dir():
        raise click.UsageError(f"{output}: this is a folder; name a file")


def _write_arrays(output: Path, arrays: dict[str, Any]) -> None:
    partial = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        with partial.open("wb") as stream:
            np.savez(stream, **arrays)
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
