"""References: one cell under all its names. TVM's virtual machine has none."""

from relay_conformance.relay_cases.case import table

_X = "def @main(%x: int32)"

CASES = table(
    "lang-reference",
    {
        "reads-what-it-was-made-with": (_X + " { let %r = ref(%x); ref_read(%r) }", (5, 5)),
        "reads-what-was-written": (
            _X + " { let %r = ref(%x); let %_ = ref_write(%r, %x + 1); ref_read(%r) }",
            (5, 6),
        ),
        "reads-what-was-written-last": (
            _X + " { let %r = ref(%x); let %_ = ref_write(%r, 1); let %__ = ref_write(%r, 2); ref_read(%r) }",
            (5, 2),
        ),
        "two-names": (
            _X
            + " { let %a = ref(%x); let %b = %a; let %_ = ref_write(%b, 10); (ref_read(%a), ref_read(%b)) }",
            (5, (10, 10)),
        ),
        "two-cells-with-one-value": (
            _X + " { let %a = ref(%x); let %b = ref(%x); let %_ = ref_write(%b, 10); (ref_read(%a), "
            "ref_read(%b)) }",
            (5, (5, 10)),
        ),
        "writing-changes-no-value": (
            _X + " { let %v = %x + 1; let %r = ref(%v); let %_ = ref_write(%r, 10); (%v, %x) }",
            (5, (6, 5)),
        ),
        "is-an-argument": (
            "def @inc(%r) -> () { let %v: int32 = ref_read(%r); ref_write(%r, %v + 1) }\n"
            + _X
            + " { let %r = ref(%x); let %_ = @inc(%r); let %__ = @inc(%r); ref_read(%r) }",
            (5, 7),
        ),
        "is-a-result": (
            "def @cell(%x: int32) { ref(%x * 2) }\n"
            + _X
            + " { let %a = @cell(%x); let %b = @cell(%x); let %_ = ref_write(%a, 1); ref_read(%a) + "
            "ref_read(%b) }",
            (5, 11),
        ),
        "is-captured": (
            _X + " { let %r = ref(%x); let %add = fn (%n: int32) -> () { ref_write(%r, ref_read(%r) + %n) }; "
            "let %_ = %add(10); let %__ = %add(20); ref_read(%r) }",
            (5, 35),
        ),
        "is-captured-by-two": (
            _X + " { let %r = ref(%x); let %get = fn () -> int32 { ref_read(%r) }; "
            "let %set = fn (%n: int32) -> () { ref_write(%r, %n) }; let %a = %get(); let %_ = %set(9); "
            "(%a, %get()) }",
            (5, (5, 9)),
        ),
        "is-in-a-tuple": (
            _X
            + " { let %t = (ref(%x), ref(%x + 1)); let %a = %t.0; let %b = %t.1; let %_ = ref_write(%a, 10); "
            "(ref_read(%a), ref_read(%b)) }",
            (5, (10, 6)),
        ),
        "is-in-data": (
            _X
            + " { let %m = Just(ref(%x)); let %n = %m; match (%m) { Just(%r) => { let %_ = ref_write(%r, 8); "
            "match (%n) { Just(%s) => ref_read(%s), Nothing => 0 } }, Nothing => 1 } }",
            (5, 8),
        ),
        "to-a-tuple": (
            _X + " { let %r = ref((%x, 1)); let %t = ref_read(%r); let %_ = ref_write(%r, (%t.1, %t.0)); "
            "ref_read(%r) }",
            (5, (1, 5)),
        ),
        "to-data": (
            _X + " { let %r = ref(Leaf(%x)); let %_ = ref_write(%r, Node(ref_read(%r), 2, Leaf(3))); "
            "match (ref_read(%r)) { Leaf(_) => 0, Node(Leaf(%a), %b, _) => %a * %b, Node(_, _, _) => 1 } }",
            (5, 10),
        ),
        "to-a-function": (
            _X + " { let %r = ref(fn (%a: int32) -> int32 { %a + %x }); let %f = ref_read(%r); "
            "let %_ = ref_write(%r, fn (%a: int32) -> int32 { %a * %x }); let %g = ref_read(%r); (%f(10), "
            "%g(10)) }",
            (5, (15, 50)),
        ),
        "to-a-reference": (
            _X + " { let %r = ref(%x); let %q = ref(%r); let %_ = ref_write(ref_read(%q), 7); "
            "let %__ = ref_write(%q, ref(9)); (ref_read(%r), ref_read(ref_read(%q))) }",
            (5, (7, 9)),
        ),
        "to-a-tensor": (
            "def @main(%x: Tensor[(2), int32]) { let %r = ref(%x); let %a = ref_read(%r); "
            "let %_ = ref_write(%r, %a + %a); (%a, ref_read(%r), %x) }",
            ([1, 2], ([1, 2], [2, 4], [1, 2])),
        ),
        "carries-a-recursion": (
            _X + " { let %r = ref(fn (%n: int32) -> int32 { %n }); let %f = fn (%n: int32) -> int32 "
            "{ let %g = ref_read(%r); if (%n < 1) { 0 } else { %n + %g(%n - 1) } }; let %_ = "
            "ref_write(%r, %f); %f(%x) }",
            (4, 10),
        ),
        "written-in-a-loop": (
            "def @f(%n: int32, %r, %x: Tensor[(2), int32]) -> int32 "
            "{ if (%n < 1) { 0 } else { let %v: Tensor[(2), int32] = ref_read(%r); let %_ = ref_write(%r, "
            "%v + %x); @f(%n - 1, %r, %x) } }\n"
            "def @main(%n: int32, %x: Tensor[(2), int32]) { let %r = ref(%x); let %z = @f(%n, %r, %x); "
            "(ref_read(%r), %z) }",
            ((3, [1, 2]), ([4, 8], 0)),
            ((0, [1, 2]), ([1, 2], 0)),
        ),
        "made-in-each-round": (
            "def @f(%n: int32, %s: int32) -> int32 { if (%n < 1) { %s } else { let %r = ref(%n); "
            "let %_ = ref_write(%r, ref_read(%r) * 2); @f(%n - 1, %s + ref_read(%r)) } }\n"
            "def @main(%n: int32) { @f(%n, 0) }",
            (3, 12),
        ),
        "a-write-has-the-empty-tuple": (
            _X + " { let %r = ref(%x); let %u = ref_write(%r, 1); (%u, ref_read(%r)) }",
            (5, ((), 1)),
        ),
    },
)
