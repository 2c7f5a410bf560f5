"""The data types that the cases share, and the header of Relay's text form."""

HEADER = '#[version = "0.0.5"]\n'

DATA_TYPES = """
type L { Cons(int32, L), Nil }
type T { Leaf(int32), Node(T, int32, T) }
type X { Lit(int32), Add(X, X), Mul(X, X), Neg(X) }
type E { Red, Green, Blue }
type P { Pair((int32, (int32, int32))) }
type V { One(Tensor[(2), int32]), Two(Tensor[(2), int32], Tensor[(2), int32]) }
type F { Fun(fn (int32) -> int32), Same }
type M[A] { Just(A), Nothing }
type S[A] { Push(A, S[A]), Empty }
"""
