"""The Relay programs of the benchmark, as text: loops, recursion, matches, closures, dynamic shapes.

``main`` takes how much there is to do as its first argument, where that is not a tensor's size.
"""

_HEAD = '#[version = "0.0.5"]\n'


def _loop(type_: str, step: str) -> str:
    """A self tail call: ``i`` counts up to ``n``; ``step`` gives the next ``%acc``."""
    return _HEAD + (
        f"def @loop(%i: int32, %n: int32, %acc: {type_}, %x: {type_}) -> {type_} {{\n"
        f"  if (less(%i, %n)) {{ @loop(add(%i, 1), %n, {step}, %x) }} else {{ %acc }}\n}}\n"
        f"def @main(%n: int32, %x: {type_}) -> {type_} {{ @loop(0, %n, %x, %x) }}\n"
    )


LOOP_SCALAR = _loop("int32", "add(%acc, %x)")
LOOP_1X1 = _loop("Tensor[(1, 1), float32]", "add(%acc, %x)")
LOOP_MATRIX = _loop("Tensor[(32, 32), float32]", "tanh(add(nn.dense(%acc, %x, units=None), %x))")

NESTED = (
    _HEAD
    + """
def @inner(%j: int32, %m: int32, %acc: int32, %x: int32) -> int32 {
  if (less(%j, %m)) { @inner(add(%j, 1), %m, add(%acc, %x), %x) } else { %acc }
}
def @outer(%i: int32, %n: int32, %acc: int32, %x: int32) -> int32 {
  if (less(%i, %n)) { @outer(add(%i, 10), %n, @inner(0, 10, %acc, %x), %x) } else { %acc }
}
def @main(%n: int32, %x: int32) -> int32 { @outer(0, %n, 0, %x) }
"""
)

LIST = (
    _HEAD
    + """
type L { Nil, Cons(int32, L) }
def @build(%n: int32, %acc: L) -> L {
  if (equal(%n, 0)) { %acc } else { @build(subtract(%n, 1), Cons(%n, %acc)) }
}
def @sum(%l: L) -> int32 { match (%l) { Nil => 0, Cons(%h, %t) => add(%h, @sum(%t)) } }
def @main(%n: int32) -> int32 { @sum(@build(%n, Nil)) }
"""
)

TREE = (
    _HEAD
    + """
type T { Leaf(int32), Node(T, T) }
def @build(%n: int32) -> T {
  if (less(%n, 2)) { Leaf(%n) }
  else { let %l = @build(right_shift(%n, 1)); let %r = @build(right_shift(%n, 1)); Node(%l, %r) }
}
def @sum(%t: T) -> int32 { match (%t) { Leaf(%v) => %v, Node(%l, %r) => add(@sum(%l), @sum(%r)) } }
def @main(%n: int32) -> int32 { @sum(@build(%n)) }
"""
)

MATCH = (
    _HEAD
    + """
type E { Num(int32), Add(E, E), Sub(E, E), Mul(E, E), Neg(E), Pick(E, E, E) }
def @grow(%n: int32) -> E {
  if (less(%n, 2)) { Num(%n) }
  else {
    let %half = @grow(right_shift(%n, 1));
    Pick(Num(1), Add(%half, Neg(Num(2))), Sub(Mul(%half, Num(1)), Num(3)))
  }
}
def @eval(%e: E) -> int32 {
  match (%e) {
    Num(%v) => %v,
    Add(%a, %b) => add(@eval(%a), @eval(%b)),
    Sub(%a, %b) => subtract(@eval(%a), @eval(%b)),
    Mul(%a, %b) => multiply(@eval(%a), @eval(%b)),
    Neg(%a) => negative(@eval(%a)),
    Pick(Num(_), %a, %b) => add(@eval(%a), @eval(%b)),
    Pick(%c, %a, %b) => add(multiply(@eval(%c), @eval(%a)), @eval(%b)),
  }
}
def @main(%n: int32) -> int32 { @eval(@grow(%n)) }
"""
)

CLOSURES = (
    _HEAD
    + """
def @compose(%f: fn(int32) -> int32, %g: fn(int32) -> int32) -> fn(int32) -> int32 {
  fn (%v: int32) -> int32 { %g(%f(%v)) }
}
def @go(%i: int32, %acc: int32, %f: fn(int32) -> int32) -> int32 {
  if (equal(%i, 0)) { %acc }
  else {
    let %shift = fn (%v: int32) -> int32 { add(%v, %i) };
    let %both = @compose(%f, %shift);
    @go(subtract(%i, 1), %both(%acc), %f)
  }
}
def @main(%n: int32, %x: int32) -> int32 { @go(%n, 0, fn (%v: int32) -> int32 { bitwise_xor(%v, %x) }) }
"""
)

GROWING = (
    _HEAD
    + """
def @grow(%i: int32, %n: int32, %x: Tensor[(?, 2), float32], %row: Tensor[(1, 2), float32])
    -> Tensor[(?, 2), float32] {
  if (less(%i, %n)) { let %both = (%x, %row); @grow(add(%i, 1), %n, concatenate(%both), %row) } else { %x }
}
def @main(%n: int32, %x: Tensor[(?, 2), float32], %row: Tensor[(1, 2), float32]) -> Tensor[(?, 2), float32] {
  @grow(0, %n, %x, %row)
}
"""
)

RAGGED_RNN = (
    _HEAD
    + """
def @step(%t: int32, %n: int32, %x: Tensor[(?, 8), float32], %w: Tensor[(16, 8), float32],
          %u: Tensor[(16, 16), float32], %h: Tensor[(1, 16), float32]) -> Tensor[(1, 16), float32] {
  if (less(%t, %n)) {
    let %now = expand_dims(take(%x, %t, axis=0, mode="clip"), axis=0);
    @step(add(%t, 1), %n, %x, %w, %u, tanh(add(nn.dense(%now, %w, units=None), nn.dense(%h, %u, units=None))))
  } else { %h }
}
def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(16, 8), float32], %u: Tensor[(16, 16), float32],
          %h: Tensor[(1, 16), float32]) -> Tensor[(1, 16), float32] {
  let %n = take(shape_of(%x, dtype="int32"), 0, mode="clip");
  @step(0, %n, %x, %w, %u, %h)
}
"""
)

IDENTITY = _HEAD + "def @main(%x: Tensor[(1, 16), float32]) -> Tensor[(1, 16), float32] { %x }\n"
