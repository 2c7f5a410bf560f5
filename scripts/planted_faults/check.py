"""Run prepared programs on the register VM that is on the path; exit status 1 and one line at the first failure.

python -m scripts.planted_faults.check PREPARED
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tvm
from scripts.planted_faults.prepare import Prepared, read

from regvm.cache import kernels
from relay_conformance.relay_cases.attempts import FULL_LEVEL, parts, run_part
from relay_conformance.relay_cases.running import classed
from relay_conformance.status import Status

ENGINES = ("interpreter", "native")


def check(batch: Prepared) -> str | None:
    """What is wrong with the first program that fails, in any variation, on either engine."""
    module = tvm.ir.load_json(batch.lowered)
    target = tvm.target.Target("llvm", host="llvm")

    def refused() -> Mapping[str, Any]:
        raise RuntimeError("the kernels were built when the programs were prepared")

    def build(prim_funcs: Mapping[str, Any]) -> Any:
        return kernels.build(prim_funcs, target, refused).module

    for number, part in enumerate(parts(module, len(batch.cases), build)):
        case = batch.cases[number]
        for engine in ENGINES:
            try:
                result = classed(case, "regvm", list(run_part(part, case, number, engine, FULL_LEVEL)))
            except Exception as error:
                # A fault may show as any error; that it shows is what is asked.
                return f"{case.id}, {engine}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
            if result.status is not Status.AGREE:
                return f"{case.id}, {engine}: {result.status.value}: {result.detail}"
    return None


def main() -> int:
    for batch in read(Path(sys.argv[1])):
        problem = check(batch)
        if problem is not None:
            print(problem)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
