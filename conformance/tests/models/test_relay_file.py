"""A file of Relay is compared like any other model, with Relay's interpreter as the third voice."""

import json
from pathlib import Path

import pytest
import tvm
from tvm import relay

from relay_conformance.cli import main
from relay_conformance.errors import BadInputError
from relay_conformance.models.relay_file import read_relay

HEADER = '#[version = "0.0.5"]\n'
TEXT = HEADER + "def @main(%x: Tensor[(2), int32], %c: bool) { if (%c) { %x + %x } else { %x * %x } }\n"


def written(tmp_path: Path, text: str, name: str = "model.relay") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.thorough
def test_the_machines_agree_with_relay_s_interpreter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(written(tmp_path, TEXT)), "--repeats", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["confirmed_by"] == "relay's interpreter"
    assert found["vms_bit_equal"]
    assert found["holds"]


def test_json_is_read_like_text(tmp_path: Path) -> None:
    text = tvm.ir.save_json(relay.fromtext(TEXT))
    names = [spec.name for spec in read_relay(written(tmp_path, text, "model.json")).inputs]
    assert names == ["x", "c"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (TEXT.removeprefix(HEADER), "Relay text begins with a line"),
        (HEADER + "def @main(%x: int32) { %x + True }", "this is not well-typed Relay text"),
        (HEADER + "def @main(%x: (int32, int32)) { %x }", "input x of `main` must be a tensor"),
    ],
)
def test_a_wrong_file_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=complaint):
        read_relay(written(tmp_path, text))
