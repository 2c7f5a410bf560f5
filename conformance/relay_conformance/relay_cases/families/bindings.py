"""``let``, and the order of effects."""

from relay_conformance.relay_cases.case import table

_LET = table(
    "lang-let",
    {
        "one": ("def @main(%x: int32) { let %a = %x + 1; %a * 2 }", (3, 8)),
        "chain": (
            "def @main(%x: int32) { let %a = %x + 1; let %b = %a * 2; let %c = %b - %x; %c * %a }",
            (3, 20),
        ),
        "used-twice": ("def @main(%x: int32) { let %a = %x * 3; %a * %a }", (2, 36)),
        "used-much-later": (
            "def @main(%x: int32) { let %a = %x + 1; let %b = %x * 2; let %c = %b * 3; let %d = %c - 1; "
            "%d - %a }",
            (4, 18),
        ),
        "never-used": ("def @main(%x: int32) { let %a = %x * 100; %x + 1 }", (4, 5)),
        "of-a-parameter": (
            "def @main(%x: int32, %y: int32) { let %a = %x; let %b = %y; %b - %a }",
            ((1, 5), 4),
        ),
        "of-a-let": ("def @main(%x: int32) { let %a = (let %b = %x + 1; %b * %b); %a - %x }", (2, 7)),
        "is-the-result": ("def @main(%x: int32) { let %a = %x + 1; %a }", (2, 3)),
        "two-names-for-one-value": (
            "def @main(%x: int32) { let %a = %x + 1; let %b = %a; (%a, %b, %b - %a) }",
            (2, (3, 3, 0)),
        ),
        "hides-within-a-branch-only": (
            "def @main(%c: bool, %x: int32) { let %a = %x; "
            "let %b = if (%c) { let %a = 100; %a + 1 } else { %a }; (%a, %b) }",
            ((True, 5), (5, 101)),
            ((False, 5), (5, 5)),
        ),
        "hides-within-a-function-only": (
            "def @main(%x: int32) { let %a = %x; let %f = fn (%a: int32) -> int32 { %a * 2 }; (%f(10), %a) }",
            (5, (20, 5)),
        ),
        "of-a-constant": ("def @main(%x: int32) { let %a = 5; let %b = 7; (%x * %a) - %b }", (2, 3)),
        "of-a-tuple": ("def @main(%x: int32) { let %t = (%x, %x + 1); %t.0 * %t.1 }", (3, 12)),
        "of-a-function": (
            "def @main(%x: int32) { let %f = fn (%y: int32) -> int32 { %y - 1 }; %f(%f(%x)) }",
            (3, 1),
        ),
        "of-a-global-function": (
            "def @f(%y: int32) -> int32 { %y - 1 }\ndef @main(%x: int32) { let %f = @f; %f(%f(%x)) }",
            (3, 1),
        ),
        "with-its-type-written": ("def @main(%x: int32) { let %a: int32 = %x + 1; %a * 2 }", (3, 8)),
        "twenty-live-at-once": (
            "def @main(%x: int32) { "
            + " ".join(f"let %a{n} = %x * {n};" for n in range(20))
            + " "
            + " + ".join(["%x", *(f"%a{n}" for n in range(20))])
            + " }",
            (1, 191),
            (-2, -382),
        ),
        "that-nothing-reads-may-be-an-effect": (
            "def @main(%x: int32) { let %r = ref(%x); let %_ = ref_write(%r, %x + 1); let %__ = %x; "
            "ref_read(%r) }",
            (3, 4),
        ),
    },
)

_LOG = (
    "let %r = ref(0); let %log = fn (%digit: int32) -> int32 "
    "{ let %_ = ref_write(%r, (ref_read(%r) * 10) + %digit); %digit };"
)
_ORDER = table(
    "lang-order",
    {
        "lets-from-first-to-last": (
            "def @main(%x: int32) { " + _LOG + " let %a = %log(%x); let %b = %log(2); "
            "let %c = %log(3); (ref_read(%r), (%a + %b) + %c) }",
            (1, (123, 6)),
        ),
        "arguments-of-a-call": (
            "def @keep(%a: int32, %b: int32) -> int32 { %a - %b }\n"
            "def @main(%x: int32) { " + _LOG + " let %d = @keep(%log(%x), %log(2)); (%d, ref_read(%r)) }",
            (1, (-1, 12)),
        ),
        "arguments-of-an-operator": (
            "def @main(%x: int32) { " + _LOG + " let %d = %log(%x) - %log(2); (%d, ref_read(%r)) }",
            (1, (-1, 12)),
        ),
        "fields-of-a-tuple": (
            "def @main(%x: int32) { " + _LOG + " let %t = (%log(%x), (%log(2), %log(3))); "
            "(%t, ref_read(%r)) }",
            (1, ((1, (2, 3)), 123)),
        ),
        "fields-of-a-constructor": (
            "def @main(%x: int32) { " + _LOG + " let %l = Cons(%log(%x), Cons(%log(2), Nil)); "
            "(match (%l) { Cons(%h, _) => %h, Nil => 0 }, ref_read(%r)) }",
            (1, (1, 12)),
        ),
        "the-condition-before-the-branch": (
            "def @main(%x: int32) { " + _LOG + " "
            "let %d = if (%log(%x) < 2) { %log(2) } else { %log(3) }; (%d, ref_read(%r)) }",
            (1, (2, 12)),
            (4, (3, 43)),
        ),
        "the-subject-before-the-clause": (
            "def @main(%x: int32) { " + _LOG + " "
            "let %d = (match (Leaf(%log(%x))) { Leaf(%v) => %log(%v + 1), Node(_, _, _) => 0 }); "
            "(%d, ref_read(%r)) }",
            (1, (2, 12)),
        ),
        "a-read-before-a-write-keeps-the-old": (
            "def @main(%x: int32) { let %r = ref(%x); let %a = ref_read(%r); let %_ = ref_write(%r, 9); "
            "(%a, ref_read(%r)) }",
            (1, (1, 9)),
        ),
        "an-unused-call-still-writes": (
            "def @main(%x: int32) { " + _LOG + " let %unused = %log(%x); ref_read(%r) }",
            (7, 7),
        ),
        "effects-of-nested-calls-inside-out": (
            "def @main(%x: int32) { " + _LOG + " let %d = %log(%log(%log(%x) + 1) + 1); (%d, ref_read(%r)) }",
            (1, (3, 123)),
        ),
        "a-closure-s-effects-when-it-is-called": (
            "def @main(%x: int32) { " + _LOG + " let %f = fn () -> int32 { %log(%x) }; "
            "let %before = ref_read(%r); let %a = %f(); let %b = %f(); (%before, ref_read(%r)) }",
            (4, (0, 44)),
        ),
        "equal-expressions-are-both-evaluated": (
            "def @next(%r) -> int32 { let %v: int32 = ref_read(%r); let %_ = ref_write(%r, %v + 1); %v }\n"
            "def @main(%x: int32) { let %r = ref(%x); (@next(%r), @next(%r), @next(%r)) }",
            (1, (1, 2, 3)),
        ),
        "in-each-round-of-a-loop": (
            "def @loop(%log: fn (int32) -> int32, %n: int32) -> int32 "
            "{ if (%n < 1) { 0 } else { let %_ = %log(%n); @loop(%log, %n - 1) } }\n"
            "def @main(%n: int32) { " + _LOG + " let %z = @loop(%log, %n); ref_read(%r) + %z }",
            (4, 4321),
            (0, 0),
        ),
        "after-a-recursive-call": (
            "def @walk(%log: fn (int32) -> int32, %n: int32) -> int32 "
            "{ if (%n < 1) { 0 } else { let %d = @walk(%log, %n - 1); %log(%n) + %d } }\n"
            "def @main(%n: int32) { " + _LOG + " let %s = @walk(%log, %n); (%s, ref_read(%r)) }",
            (4, (10, 1234)),
        ),
    },
)
CASES = (*_LET, *_ORDER)
