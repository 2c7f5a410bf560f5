"""Storage planning: which buffers share memory, and where in the arena each lies. Plain data, no TVM.

``request`` states the problem, ``planner`` solves it by one of ``strategies``, and ``checker``, which
imports no planner, accepts or rejects the result.
"""

from regvm.memory.checker import Fault, PlanRejectedError, Violation, assert_plan, check_plan
from regvm.memory.errors import PlanningError
from regvm.memory.planner import plan
from regvm.memory.request import ALIGNMENT, Plan, Request, lower_bound, round_up
from regvm.memory.strategies import STRATEGIES, Options

__all__ = [
    "ALIGNMENT",
    "STRATEGIES",
    "Fault",
    "Options",
    "Plan",
    "PlanRejectedError",
    "PlanningError",
    "Request",
    "Violation",
    "assert_plan",
    "check_plan",
    "lower_bound",
    "plan",
    "round_up",
]
