"""Write a model before and after each optimisation pass into a folder, one numbered file a pass.

    python scripts/dump_passes.py mobilenet_v1 --out dumps
    python scripts/dump_passes.py model.relay

MODEL is the name of a built-in, a frozen graph, a SavedModel folder, a .keras file, or Relay text or JSON. Of a
TensorFlow model the imported graph is written too: inputs, weights and nodes. The data of constants is left out.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from regvm.cli.progress import working
from regvm.errors import CompileError, UnsupportedError
from regvm.frontend import pass_dump, reading
from regvm.frontend.pass_dump import Counts, Stage
from relay_conformance.errors import BadInputError
from relay_conformance.loading import load_model
from relay_conformance.tensorflow_import.graph_listing import show_graph
from relay_conformance.tensorflow_import.loading import silence_tensorflow

_TENSORFLOW_SUFFIXES = (".pb", ".keras")


class InvalidModelError(click.ClickException):
    """One line, and exit status 2."""

    exit_code = 2

    def __init__(self, error: Exception) -> None:
        super().__init__(" ".join(str(error).split()))


@click.command(help=__doc__)
@click.argument("model")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Default: MODEL's name and .passes.",
)
@click.option(
    "--batch", type=click.IntRange(min=1), default=1, show_default=True, help="Of TensorFlow models."
)
@click.option("--opt-level", type=click.IntRange(0, 4), default=3, show_default=True)
def main(model: str, folder: Path | None, batch: int, opt_level: int) -> None:
    silence_tensorflow()
    try:
        with working(f"reading {model}"):
            module, params, graph = _load(model, batch)
        with working(f"running the passes on {model}"), reading.at_level(opt_level):
            stages = pass_dump.stages(module, params)
    except (BadInputError, CompileError, UnsupportedError, OSError, UnicodeDecodeError) as error:
        raise InvalidModelError(error) from error
    target = folder or Path(f"{Path(model).stem}.passes")
    target.mkdir(parents=True, exist_ok=True)
    if graph is not None:
        (target / "graph.txt").write_text(graph)
    names = _write(target, stages)
    counted = [pass_dump.count(stage.module) for stage in stages]
    (target / "summary.txt").write_text(_summary(names, stages, counted))
    Console(width=max(Console().width, 100)).print(_table(names, stages, counted))
    click.echo(f"{len(names)} stages{' and graph.txt' if graph else ''} in {target}")


def _load(model: str, batch: int) -> tuple[Any, Mapping[str, Any], str | None]:
    """The module, its weights, and the listing of the graph that it was imported from."""
    path = Path(model)
    if path.is_file() and path.suffix not in _TENSORFLOW_SUFFIXES:
        text = path.read_text()
        read = reading.read_json if text.lstrip().startswith("{") else reading.read_text
        return read(text), {}, None
    loaded = load_model(model, batch)
    graph = None if loaded.graph is None else show_graph(loaded.graph)
    return loaded.program.module, loaded.program.params, graph


def _write(folder: Path, stages: Sequence[Stage]) -> list[str]:
    """One file a stage; a stage that changes nothing says so, and repeats nothing."""
    names = [f"{number:02}_{stage.name}" for number, stage in enumerate(stages)]
    shown = names[0]
    for name, stage in zip(names, stages, strict=True):
        if stage.changed:
            shown = name
        same = f"// unchanged but for types: see {shown}.relay\n"
        (folder / f"{name}.relay").write_text(pass_dump.show(stage.module) if stage.changed else same)
    return names


def _summary(names: Sequence[str], stages: Sequence[Stage], counted: Sequence[Counts]) -> str:
    lines = ["pass\tnodes\tcalls\tconstants\tkernels\tchanged"]
    for name, stage, counts in zip(names, stages, counted, strict=True):
        figures = (counts.nodes, counts.calls, counts.constants, counts.kernels)
        lines.append("\t".join([name, *map(str, figures), "yes" if stage.changed else "no"]))
    return "\n".join(lines) + "\n"


def _table(names: Sequence[str], stages: Sequence[Stage], counted: Sequence[Counts]) -> Table:
    table = Table("pass")
    for heading in ("nodes", "calls", "constants", "kernels"):
        table.add_column(heading, justify="right")
    table.add_column("changed")
    for name, stage, counts in zip(names, stages, counted, strict=True):
        figures = (counts.nodes, counts.calls, counts.constants, counts.kernels)
        table.add_row(name, *(f"{f:,}" for f in figures), "yes" if stage.changed else "")
    return table


if __name__ == "__main__":
    main()
