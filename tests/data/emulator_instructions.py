"""Makes emulator_instructions.txt: single PTX instructions with operands and results. They are computed here with
Python's integers and numpy from the PTX ISA's text, independently of the emulator.

A line has operands a, b, c as 64-bit hexadecimal, the result, and the instruction. It finds the operands in %rd1 to
%rd3, their low halves in %r1 to %r3 and %f1 to %f3, their low 16 bits in %rs1 to %rs3, and a's lowest bit in %p1. It
leaves the result in %rd4, %r4, %f4, %rs4 or %p4.
"""

import random
import struct

import numpy as np

random.seed(20)
EDGES = [0, 1, 2, 7, 31, 32, 33, 63, 64, 127, 255, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
         0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF]
REGISTER = {16: "%rs", 32: "%r", 64: "%rd"}
rows = []


def operand():
    return random.choice(EDGES) if random.random() < 0.4 else random.getrandbits(64)


def low(x, bits):
    return x & ((1 << bits) - 1)


def signed(x, bits):
    x = low(x, bits)
    return x - (1 << bits) if x >> (bits - 1) else x


def value(x, kind, bits):
    return signed(x, bits) if kind == "s" else low(x, bits)


def row(text, function, count=6, operands=None):
    for i in range(count):
        a, b, c = operands[i] if operands else (operand(), operand(), operand())
        rows.append((a, b, c, function(a, b, c), text))


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


# ---- integer arithmetic
for bits in (16, 32, 64):
    r = REGISTER[bits]
    for kind in "us":
        def v(x, kind=kind, bits=bits):
            return value(x, kind, bits)

        def nonzero(x, v=v):
            return v(x) or 3
        t = f"{kind}{bits}"
        two = f"{r}4, {r}1, {r}2"
        three = two + f", {r}3"
        row(f"add.{t} {two}", lambda a, b, c, v=v, n=bits: low(v(a) + v(b), n))
        row(f"sub.{t} {two}", lambda a, b, c, v=v, n=bits: low(v(a) - v(b), n))
        row(f"mul.lo.{t} {two}", lambda a, b, c, v=v, n=bits: low(v(a) * v(b), n))
        row(f"mul.hi.{t} {two}", lambda a, b, c, v=v, n=bits: low((v(a) * v(b)) >> n, n))
        row(f"mad.lo.{t} {three}", lambda a, b, c, v=v, n=bits: low(v(a) * v(b) + v(c), n))
        row(f"mad.hi.{t} {three}", lambda a, b, c, v=v, n=bits: low(((v(a) * v(b)) >> n) + v(c), n))
        row(f"min.{t} {two}", lambda a, b, c, v=v, n=bits: low(min(v(a), v(b)), n))
        row(f"max.{t} {two}", lambda a, b, c, v=v, n=bits: low(max(v(a), v(b)), n))
        divisors = [(operand(), d, 0) for d in (3, 7, 1, 1000, low(-5, 64), low(-1, 64))]
        row(f"div.{t} {two}", lambda a, b, c, v=v, n=bits: low(trunc_div(v(a), v(b)), n), operands=divisors)
        row(f"rem.{t} {two}", lambda a, b, c, v=v, n=bits: low(v(a) - v(b) * trunc_div(v(a), v(b)), n),
            operands=divisors)
        row(f"shr.{t} {r}4, {r}1, %r2", lambda a, b, c, v=v, n=bits: low(v(a) >> min(low(b, 32), n), n),
            operands=[(operand(), random.choice([0, 1, 5, 15, 16, 31, 32, 63, 64, 200]), 0) for _ in range(8)])
        if kind == "s":
            row(f"abs.{t} {r}4, {r}1", lambda a, b, c, v=v, n=bits: low(abs(v(a)), n))
            row(f"neg.{t} {r}4, {r}1", lambda a, b, c, v=v, n=bits: low(-v(a), n))
        if bits < 64:
            w = REGISTER[2 * bits]
            row(f"mul.wide.{t} {w}4, {r}1, {r}2", lambda a, b, c, v=v, n=bits: low(v(a) * v(b), 2 * n))
            row(f"mad.wide.{t} {w}4, {r}1, {r}2, {w}3",
                lambda a, b, c, v=v, n=bits: low(v(a) * v(b) + c, 2 * n))


def clamp32(x):
    return low(max(-2**31, min(2**31 - 1, x)), 32)


s32 = lambda x: signed(x, 32)
row("add.sat.s32 %r4, %r1, %r2", lambda a, b, c: clamp32(s32(a) + s32(b)))
row("sub.sat.s32 %r4, %r1, %r2", lambda a, b, c: clamp32(s32(a) - s32(b)))
row("mad.hi.sat.s32 %r4, %r1, %r2, %r3", lambda a, b, c: clamp32(((s32(a) * s32(b)) >> 32) + s32(c)))


def dot(a, b, c, ka, kb):
    total = low(c, 32)
    for i in range(4):
        total += value(a >> (8 * i), ka, 8) * value(b >> (8 * i), kb, 8)
    return low(total, 32)


for ka in "us":
    for kb in "us":
        row(f"dp4a.{ka}32.{kb}32 %r4, %r1, %r2, %r3", lambda a, b, c, ka=ka, kb=kb: dot(a, b, c, ka, kb))

# ---- logic
for bits in (16, 32, 64):
    r = REGISTER[bits]
    row(f"and.b{bits} {r}4, {r}1, {r}2", lambda a, b, c, n=bits: low(a & b, n), 3)
    row(f"or.b{bits} {r}4, {r}1, {r}2", lambda a, b, c, n=bits: low(a | b, n), 3)
    row(f"xor.b{bits} {r}4, {r}1, {r}2", lambda a, b, c, n=bits: low(a ^ b, n), 3)
    row(f"not.b{bits} {r}4, {r}1", lambda a, b, c, n=bits: low(~a, n), 3)
    row(f"shl.b{bits} {r}4, {r}1, %r2", lambda a, b, c, n=bits: low(a << min(low(b, 32), 200), n),
        operands=[(operand(), s, 0) for s in (0, 1, 15, 16, 31, 32, 63, 64, 199)], count=9)
row("and.pred %p4, %p1, %p1", lambda a, b, c: a & 1, 2)
row("setp.lt.u32 %p2, %r2, %r3; xor.pred %p4, %p1, %p2", lambda a, b, c: (a & 1) ^ int(low(b, 32) < low(c, 32)), 4)
row("not.pred %p4, %p1", lambda a, b, c: 1 - (a & 1), 2)
for table in (0xC0, 0x96, 0xE8, 0x01, 0x6A, 0xFE):
    def looked_up(a, b, c, t=table):
        return sum(((t >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1))) & 1) << i for i in range(32))

    row(f"lop3.b32 %r4, %r1, %r2, %r3, {table}", looked_up, 3)


def funnel(a, b, c, left, wrap):
    n = low(c, 32)
    n = n & 31 if wrap else min(n, 32)
    both = low(b, 32) << 32 | low(a, 32)
    return low((both << n) >> 32, 32) if left else low(both >> n, 32)


for direction in "lr":
    for mode in ("wrap", "clamp"):
        row(f"shf.{direction}.{mode}.b32 %r4, %r1, %r2, %r3",
            lambda a, b, c, d=direction, m=mode: funnel(a, b, c, d == "l", m == "wrap"),
            operands=[(operand(), operand(), n) for n in (0, 8, 16, 31, 32, 40)])


def prmt(a, b, selectors):
    source = low(b, 32) << 32 | low(a, 32)
    result = 0
    for i, s in enumerate(selectors):
        byte = source >> (8 * (s & 7)) & 255
        if s & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << (8 * i)
    return result


row("prmt.b32 %r4, %r1, %r2, %r3", lambda a, b, c: prmt(a, b, [c >> (4 * i) & 15 for i in range(4)]), 10)
MODES = {"f4e": lambda n: [n, n + 1, n + 2, n + 3], "b4e": lambda n: [n, (n - 1) & 7, (n - 2) & 7, (n - 3) & 7],
         "rc8": lambda n: [n] * 4, "ecl": lambda n: [max(n, i) for i in range(4)],
         "ecr": lambda n: [min(n, i) for i in range(4)], "rc16": lambda n: [2 * (n & 1), 2 * (n & 1) + 1] * 2}
for mode, selectors in MODES.items():
    row(f"prmt.b32.{mode} %r4, %r1, %r2, %r3", lambda a, b, c, s=selectors: prmt(a, b, s(c & 3)),
        operands=[(operand(), operand(), n) for n in range(4)], count=4)


def bfe(a, b, c, kind, bits):
    position, length = b & 255, c & 255
    sign = 0 if kind == "u" or length == 0 else a >> min(position + length - 1, bits - 1) & 1
    return sum(((a >> (position + i) & 1) if i < length and position + i < bits else sign) << i for i in range(bits))


def bfi(a, b, position, length, bits):
    result = low(b, bits)
    for i in range(length & 255):
        if (position & 255) + i < bits:
            at = (position & 255) + i
            result = result & ~(1 << at) | (a >> i & 1) << at
    return result


PLACES = ((0, 0), (0, 8), (4, 28), (31, 1), (28, 12), (40, 3), (0, 64), (17, 200), (60, 4), (3, 33))
FIELDS = [(operand(), p, n) for p, n in PLACES]
for bits in (32, 64):
    r = REGISTER[bits]
    for kind in "us":
        row(f"bfe.{kind}{bits} {r}4, {r}1, %r2, %r3",
            lambda a, b, c, k=kind, n=bits: bfe(low(a, n), b, c, k, n), 10, FIELDS)
    for position, length in ((0, 5), (4, 28), (13, 40), (40, 9), (8, 0)):
        row(f"bfi.b{bits} {r}4, {r}1, {r}2, {position}, {length}",
            lambda a, b, c, p=position, k=length, n=bits: bfi(a, b, p, k, n), 3)
    row(f"popc.b{bits} %r4, {r}1", lambda a, b, c, n=bits: bin(low(a, n)).count("1"))
    row(f"clz.b{bits} %r4, {r}1", lambda a, b, c, n=bits: n - low(a, n).bit_length())

# ---- comparison and selection
COMPARE = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
           "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
PAIRS = [(operand(), operand(), operand()) for _ in range(4)] + [(5, 5, 1), (0, low(-1, 64), 2)]
for bits in (16, 32, 64):
    r = REGISTER[bits]
    for name, compare in COMPARE.items():
        for kind in "us":
            row(f"setp.{name}.{kind}{bits} %p4, {r}1, {r}2",
                lambda a, b, c, f=compare, k=kind, n=bits: int(f(value(a, k, n), value(b, k, n))), 6, PAIRS)
for name, same in (("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")):
    row(f"setp.{name}.u32 %p4, %r1, %r2", lambda a, b, c, f=COMPARE[same]: int(f(low(a, 32), low(b, 32))), 6, PAIRS)
row("setp.lt.s32 %p5|%p4, %r1, %r2", lambda a, b, c: int(not s32(a) < s32(b)), 6, PAIRS)
row("setp.lt.and.s32 %p4, %r1, %r2, %p1", lambda a, b, c: int(s32(a) < s32(b) and a & 1 == 1), 6, PAIRS)
row("setp.lt.or.s32 %p4, %r1, %r2, !%p1", lambda a, b, c: int(s32(a) < s32(b) or a & 1 == 0), 6, PAIRS)
row("setp.ge.xor.u64 %p4, %rd1, %rd2, %p1", lambda a, b, c: int((a >= b) != (a & 1 == 1)), 6, PAIRS)
row("set.lt.u32.s32 %r4, %r1, %r2", lambda a, b, c: 0xFFFFFFFF if s32(a) < s32(b) else 0, 6, PAIRS)
row("set.gt.f32.u32 %f4, %r1, %r2", lambda a, b, c: 0x3F800000 if low(a, 32) > low(b, 32) else 0, 6, PAIRS)
for bits in (16, 32, 64):
    r = REGISTER[bits]
    row(f"selp.b{bits} {r}4, {r}2, {r}3, %p1", lambda a, b, c, n=bits: low(b if a & 1 else c, n))

# ---- moves and integer conversions
row("mov.b64 {%r4, %r5}, %rd1", lambda a, b, c: low(a, 32), 2)
row("mov.b64 {%r5, %r4}, %rd1", lambda a, b, c: a >> 32, 2)
row("mov.b32 {%rs5, %rs4}, %r1", lambda a, b, c: low(a, 32) >> 16, 2)
row("mov.b64 {%rs5, %rs6, %rs4, %rs7}, %rd1", lambda a, b, c: a >> 32 & 0xFFFF, 2)
row("mov.b64 %rd4, {%r1, %r2}", lambda a, b, c: low(b, 32) << 32 | low(a, 32), 2)
row("mov.b32 %r4, {%rs1, %rs2}", lambda a, b, c: low(b, 16) << 16 | low(a, 16), 2)
row("mov.u32 %r4, 0x89abcdef", lambda a, b, c: 0x89ABCDEF, 1)
row("mov.u64 %rd4, -3", lambda a, b, c: low(-3, 64), 1)
for to in (8, 16, 32, 64):
    for source in (8, 16, 32, 64):
        for kt in "us":
            for ks in "us":
                d = {8: "%r", 16: "%rs", 32: "%r", 64: "%rd"}[to]
                s = {8: "%r", 16: "%rs", 32: "%r", 64: "%rd"}[source]
                width = 32 if to == 8 else to
                row(f"cvt.{kt}{to}.{ks}{source} {d}4, {s}1",
                    lambda a, b, c, kt=kt, ks=ks, to=to, n=source, w=width: low(value(value(a, ks, n), kt, to), w), 2)
row("cvt.sat.u8.s32 %r4, %r1", lambda a, b, c: max(0, min(255, s32(a))))
row("cvt.sat.s8.s32 %r4, %r1", lambda a, b, c: low(max(-128, min(127, s32(a))), 32))
row("cvt.sat.s16.s64 %rs4, %rd1", lambda a, b, c: low(max(-2**15, min(2**15 - 1, signed(a, 64))), 16))


# ---- floats: numpy rounds to nearest even
def f32(x):
    return np.frombuffer(struct.pack("I", low(x, 32)), np.float32)[0]


def bits32(x):
    return 0x7FFFFFFF if np.isnan(x) else int(np.float32(x).view(np.uint32))


def f16(x):
    return np.frombuffer(struct.pack("H", low(x, 16)), np.float16)[0]


def bits16(x):
    return 0x7FFF if np.isnan(x) else int(np.float16(x).view(np.uint16))


np.seterr(all="ignore")
FLOATS = [tuple(int(np.float32(random.uniform(-100, 100)).view(np.uint32)) for _ in range(3)) for _ in range(6)]
FLOATS += [(0x7F800000, 0xFF800000, 0), (0x3F800001, 0x33800000, 0), (0x00000001, 0x80000001, 0x3F800000)]
FLOATS += [(0x7FC00000, 1, 2)]
row("add.f32 %f4, %f1, %f2", lambda a, b, c: bits32(f32(a) + f32(b)), 10, FLOATS)
row("sub.rn.f32 %f4, %f1, %f2", lambda a, b, c: bits32(f32(a) - f32(b)), 10, FLOATS)
row("mul.f32 %f4, %f1, %f2", lambda a, b, c: bits32(f32(a) * f32(b)), 10, FLOATS)
row("div.rn.f32 %f4, %f1, %f2", lambda a, b, c: bits32(f32(a) / f32(b)), 10, FLOATS)
row("neg.f32 %f4, %f1", lambda a, b, c: low(a, 32) ^ 0x80000000, 6, FLOATS[:6])
row("abs.f32 %f4, %f1", lambda a, b, c: low(a, 32) & 0x7FFFFFFF, 6, FLOATS[:6])
row("sqrt.rn.f32 %f4, %f1", lambda a, b, c: bits32(np.sqrt(f32(a))), 10, FLOATS)
row("rcp.rn.f32 %f4, %f1", lambda a, b, c: bits32(np.float32(1) / f32(a)), 10, FLOATS)
# A product of two f32 is exact in double; these sums are too.
row("fma.rn.f32 %f4, %f1, %f2, %f3",
    lambda a, b, c: bits32(np.float32(float(f32(a)) * float(f32(b)) + float(f32(c)))), 6,
    [tuple(int(np.float32(random.randint(-4095, 4095) / 64).view(np.uint32)) for _ in range(3)) for _ in range(6)])
row("mul.ftz.f32 %f4, %f1, %f2", lambda a, b, c: 0x80000000, 1, [(0x80000001, 0x7F000000, 0)])
row("add.sat.f32 %f4, %f1, %f2",
    lambda a, b, c: bits32(min(np.float32(1), max(np.float32(0), f32(a) + f32(b)))), 6, FLOATS[:6])
row("add.rz.f32 %f4, %f1, %f2", lambda a, b, c: 0x3F800001, 1, [(0x3F800001, 0x33FFFFFF, 0)])
row("add.rp.f32 %f4, %f1, %f2", lambda a, b, c: 0x3F800002, 1, [(0x3F800001, 0x30000000, 0)])
row("min.f32 %f4, %f1, %f2", lambda a, b, c: bits32(min(f32(a), f32(b))), 6, FLOATS[:6])
row("max.f32 %f4, %f1, %f2", lambda a, b, c: low(b, 32), 1, [(0x7FC00000, 0x3F800000, 0)])
row("max.NaN.f32 %f4, %f1, %f2", lambda a, b, c: 0x7FFFFFFF, 1, [(0x7FC00000, 0x3F800000, 0)])
row("setp.lt.f32 %p4, %f1, %f2", lambda a, b, c: int(f32(a) < f32(b)), 10, FLOATS)
row("setp.ltu.f32 %p4, %f1, %f2", lambda a, b, c: int(not f32(a) >= f32(b)), 10, FLOATS)
row("setp.neu.f32 %p4, %f1, %f2", lambda a, b, c: int(not f32(a) == f32(b)), 10, FLOATS)
row("setp.nan.f32 %p4, %f1, %f2", lambda a, b, c: int(np.isnan(f32(a)) or np.isnan(f32(b))), 10, FLOATS)



def random_half():
    return int(np.float16(random.uniform(-30, 30)).view(np.uint16))


HALVES = [(random_half(), random_half(), 0x3C00) for _ in range(6)]
row("add.f16 %rs4, %rs1, %rs2", lambda a, b, c: bits16(np.float16(f16(a) + f16(b))), 6, HALVES)
row("mul.f16 %rs4, %rs1, %rs2", lambda a, b, c: bits16(np.float16(f16(a) * f16(b))), 6, HALVES)
row("fma.rn.f16 %rs4, %rs1, %rs2, %rs3",
    lambda a, b, c: bits16(np.float16(float(f16(a)) * float(f16(b)) + float(f16(c)))), 6, HALVES)
PACKED = [(h[0] << 16 | h[1], h[1] << 16 | h[0], 0) for h in HALVES]
row("add.f16x2 %r4, %r1, %r2",
    lambda a, b, c: bits16(np.float16(f16(a >> 16) + f16(b >> 16))) << 16 | bits16(np.float16(f16(a) + f16(b))), 6,
    PACKED)
row("cvt.f32.f16 %f4, %rs1", lambda a, b, c: bits32(np.float32(f16(a))), 6, HALVES)
row("cvt.rn.f16.f32 %rs4, %f1", lambda a, b, c: bits16(np.float16(f32(a))), 6, FLOATS[:6])
row("cvt.rn.f16x2.f32 %r4, %f1, %f2",
    lambda a, b, c: bits16(np.float16(f32(a))) << 16 | bits16(np.float16(f32(b))), 6, FLOATS[:6])


def bf16(x):
    return low((x + 0x7FFF + (x >> 16 & 1)) >> 16, 16)


row("cvt.rn.bf16.f32 %rs4, %f1", lambda a, b, c: bf16(low(a, 32)), 6, FLOATS[:6])
row("cvt.rn.bf16x2.f32 %r4, %f1, %f2", lambda a, b, c: bf16(low(a, 32)) << 16 | bf16(low(b, 32)), 6, FLOATS[:6])
row("cvt.rni.s32.f32 %r4, %f1", lambda a, b, c: low(int(np.rint(f32(a))), 32), 6, FLOATS[:6])
row("cvt.rzi.u32.f32 %r4, %f1", lambda a, b, c: max(0, int(f32(a))), 6, FLOATS[:6])
row("cvt.rmi.s32.f32 %r4, %f1", lambda a, b, c: low(int(np.floor(f32(a))), 32), 6, FLOATS[:6])
row("cvt.rpi.f32.f32 %f4, %f1", lambda a, b, c: bits32(np.ceil(f32(a))), 6, FLOATS[:6])
row("cvt.rn.f32.s32 %f4, %r1", lambda a, b, c: bits32(np.float32(s32(a))))
row("cvt.rn.f32.u64 %f4, %rd1", lambda a, b, c: bits32(np.float32(np.uint64(a))))

with open(__file__.replace(".py", ".txt"), "w") as file:
    for a, b, c, result, text in rows:
        file.write(f"{a:016x} {b:016x} {c:016x} {result:x} {text}\n")
print(len(rows), "rows")
