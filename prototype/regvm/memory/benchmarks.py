"""Storage problems with published figures, and generated programs of any size; for the tests and the reports.

Positions count operators in execution order. A buffer is live from the operator that writes it to the last
one that reads it, inclusive, hence half-open up to the next.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random

from regvm.memory.request import Range, Request


def _closed(rows: Iterable[tuple[int, int, int]]) -> list[Request]:
    return [Request(index, size, ((first, last + 1),)) for index, (first, last, size) in enumerate(rows)]


def _conflicting(sizes: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[Request]:
    """Buffers of ``sizes`` of which exactly ``pairs`` are live together, each pair at its own position."""
    positions: list[list[int]] = [[] for _ in sizes]
    for position, pair in enumerate(pairs):
        for index in dict.fromkeys(pair):
            positions[index].append(position)
    return [
        Request(index, size, tuple((position, position + 1) for position in positions[index]))
        for index, size in enumerate(sizes)
    ]


# Pisarchyk and Lee, "Efficient memory management for deep neural net inference" (2020): (first, last, size).
EIGHT_TENSORS = _closed(
    [(0, 1, 32), (1, 4, 28), (2, 5, 36), (3, 5, 16), (4, 5, 8), (5, 7, 64), (6, 8, 10), (7, 8, 40)]
)

# XNNPACK issue 10800: the gap below the second block was missed, which cost 240 bytes instead of 180.
XNNPACK_CHAIN = _closed([(0, 1, 100), (1, 2, 80), (2, 3, 60)])

# TVM's unified static memory planner: a value read by two branches, which run in turn and are joined again.
USMP_FAN_OUT = _closed([(0, 2, 10), (1, 3, 20), (2, 4, 100), (3, 5, 40), (4, 5, 50), (5, 6, 60), (6, 6, 70)])

# The same buffers by the conflicts that its test lists at both ends. Two more, between 1 and 3 and between
# 5 and 6, stand at one end only, and its plans break them: with them no plan is below 210.
USMP_FAN_OUT_LISTED = _conflicting(
    [10, 20, 100, 40, 50, 60, 70],
    [(0, 1), (0, 2), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4), (3, 5), (4, 5), (6, 6)],
)

# The same planner's ResNet block: four convolutions, each with a padded input and an accumulator.
USMP_RESNET_BLOCK = _closed(
    [
        (0, 6, 720_000),
        (0, 2, 720_000),
        (0, 1, 720_000),
        (1, 1, 256),
        (2, 3, 758_912),
        (3, 3, 256),
        (3, 4, 720_000),
        (4, 5, 720_000),
        (5, 5, 256),
        (5, 7, 5_760_000),
        (6, 7, 720_000),
        (7, 7, 256),
    ]
)


def chain(sizes: Iterable[int]) -> list[Request]:
    """Operators in a row, each reading what the one before it wrote; sizes in bytes."""
    return [Request(index, size, ((index, index + 2),)) for index, size in enumerate(sizes)]


def mobilenet_v1() -> list[Request]:
    """The float32 intermediates of MobileNet v1 (1.0, 224), each convolution fused with what follows."""
    channels = [32, 64, 128, 128, 256, 256, *[512] * 6, 1024, 1024]
    strides = [1, 2, 1, 2, 1, 2, *[1] * 5, 2, 1]
    side = 112
    sizes = [side * side * channels[0]]
    for stride, (read, written) in zip(strides, pairwise(channels), strict=True):
        side //= stride
        sizes += [side * side * read, side * side * written]
    return chain(4 * size for size in [*sizes, channels[-1], 1000, 1000])


def mobilenet_v2() -> list[Request]:
    """The float32 intermediates of MobileNet v2 (1.0, 224), fused alike, the residual additions operators."""
    bottlenecks = [
        # expansion, channels, repeats, stride of the first
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ]
    network = _Network()
    side, channels = 112, 32
    value = network.write(side * side * channels)
    for expansion, written, repeats, first_stride in bottlenecks:
        for stride in [first_stride, *[1] * (repeats - 1)]:
            shortcut = value
            if expansion > 1:
                value = network.write(side * side * channels * expansion, value)
            hidden = channels * expansion
            side //= stride
            value = network.write(side * side * hidden, value)
            value = network.write(side * side * written, value)
            if stride == 1 and channels == written:
                value = network.write(side * side * written, value, shortcut)
            channels = written
    value = network.write(side * side * 1280, value)
    value = network.write(1280, value)
    value = network.write(1000, value)
    network.write(1000, value)
    return network.requests()


class _Network:
    """Counts operators and remembers, for each value, where it is written and last read."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []

    def write(self, elements: int, *read: int) -> int:
        position = len(self.rows)
        for value in read:
            self.rows[value][1] = position
        self.rows.append([position, position + 1, 4 * elements])
        return position

    def requests(self) -> list[Request]:
        return _closed((first, last, size) for first, last, size in self.rows)


def generated_program(bindings: int, seed: int = 0) -> list[Request]:
    """One request per binding: mostly read soon, some skip connections, one in a thousand live to the end."""
    random = Random(seed)
    sizes = [4, 4_096, 50_176, 200_704, 802_816]
    requests = []
    for position in range(bindings):
        lifetime = 1 + int(random.expovariate(0.5))
        kind = random.random()
        if kind < 0.001:
            lifetime = bindings
        elif kind < 0.02:
            lifetime = random.randint(10, 60)
        size = random.choice([*sizes, random.randint(1, 100_000)])
        requests.append(Request(position, size, ((position, min(bindings + 1, position + 1 + lifetime)),)))
    return requests


def cut_up(random: Random, count: int, positions: int, capacity: int) -> list[Request]:
    """``count`` requests that fill ``capacity`` bytes at each of ``positions`` exactly.

    A hard packing problem, made by cutting the rectangle of time and bytes again and again.
    """
    pieces = [(0, positions, capacity)]
    while len(pieces) < count:
        lower, upper, size = pieces.pop(random.choice([0, random.randrange(len(pieces))]))
        if upper - lower > 1 and (size == 1 or random.random() < 0.5):
            cut = random.randrange(lower + 1, upper)
            pieces += [(lower, cut, size), (cut, upper, size)]
        elif size > 1:
            cut = random.randrange(1, size)
            pieces += [(lower, upper, cut), (lower, upper, size - cut)]
        else:
            pieces.append((lower, upper, size))
    random.shuffle(pieces)
    return [Request(index, size, ((lower, upper),)) for index, (lower, upper, size) in enumerate(pieces)]


def random_requests(random: Random, count: int, positions: int = 12, largest: int = 300) -> list[Request]:
    """``count`` requests with up to three live ranges each, sizes from 0 to ``largest`` bytes."""
    return [
        Request(index, random.randint(0, largest), _random_ranges(random, positions))
        for index in range(count)
    ]


def _random_ranges(random: Random, positions: int) -> tuple[Range, ...]:
    pieces = random.randint(1, 3)
    cuts = sorted(random.sample(range(positions + 1), 2 * pieces))
    return tuple(zip(cuts[::2], cuts[1::2], strict=True))
