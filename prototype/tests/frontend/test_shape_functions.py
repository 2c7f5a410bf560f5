"""Shape functions that TVM lacks are there while a module is compiled, and only then."""

import threading

import pytest
import tvm
from tvm import relay
from tvm.ir import Op

import regvm
from regvm.errors import CompileError
from regvm.frontend import shape_functions


def registered(name: str) -> tuple[object, list[bool] | None]:
    operator = Op.get(name)
    dependent = operator.get_attr("TShapeDataDependent")
    return operator.get_attr("FShapeFunc"), dependent and [bool(d) for d in dependent]


def test_an_operator_has_one_inside_the_block_only() -> None:
    assert registered("sin") == (None, None)
    with shape_functions.added():
        function, dependent = registered("sin")
        assert function is not None
        assert dependent == [False]
    assert registered("sin") == (None, None)


def test_one_that_tvm_has_wrongly_is_given_back() -> None:
    before = registered("bitwise_not")[1]
    with shape_functions.added():
        pass
    function, dependent = registered("bitwise_not")
    assert function is not None
    assert dependent == before


def test_a_failing_compilation_gives_all_back() -> None:
    x = relay.var("x", shape=(relay.Any(), 4, 4, 4))
    with pytest.raises(CompileError):
        regvm.compile(relay.Function([x], relay.sin(relay.nn.depth_to_space(x, 2))), "llvm")
    assert registered("sin") == (None, None)


def test_blocks_of_several_threads_may_overlap() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with shape_functions.added():
            entered.set()
            leave.wait(60)

    other = threading.Thread(target=hold)
    with shape_functions.added():
        other.start()
        assert entered.wait(60)
    assert registered("sin")[0] is not None
    leave.set()
    other.join(60)
    assert registered("sin") == (None, None)


def test_every_operator_exists() -> None:
    names = set(tvm.ir.Op.list_op_names())
    assert set(shape_functions.additions()) <= names
