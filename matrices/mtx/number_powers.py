#!/usr/bin/env python3
"""Writes number_powers.inc: powers of ten as 128-bit fractions, for reading and printing floating point numbers.

Entry q (-342 <= q <= 324) is m with 2^127 <= m < 2^128 and 10^q = m * 2^e, rounded down; for -27 <= q < 0, where a
product of a 64-bit number and 10^q can be exact, rounded up, so that such products are not taken for smaller ones.

    python3 number_powers.py > number_powers.inc
"""


def power(q):
    if q >= 0:
        value = 5**q
        shift = 128 - value.bit_length()
        return value << shift if shift >= 0 else value >> -shift
    divisor = 5**-q
    m = (1 << (divisor.bit_length() + 127)) // divisor
    return m + 1 if q >= -27 else m


print("/* Made by number_powers.py: the 128 leading bits of 10^q for q = -342 .. 324, high half first. */")
for q in range(-342, 325):
    m = power(q)
    assert m >> 127 == 1, q
    print("{0x%016x, 0x%016x}, /* %d */" % (m >> 64, m & (2**64 - 1), q))
