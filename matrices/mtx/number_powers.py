#!/usr/bin/env python3
"""Writes number_powers.inc: 192 leading bits of every 27th power of ten, rounded down, from 10^-351 to 10^324.

number_parse.c multiplies the two: entry q of its table is m with 2^127 <= m < 2^128 and 10^q = m * 2^e, rounded down;
for -27 <= q < 0, where a product of a 64-bit number and 10^q can be exact, rounded up, so that such products are not
taken for smaller ones.

    python3 number_powers.py > number_powers.inc
"""


def leading(q, bits):
    """floor(10^q * 2^e) with this number of bits"""
    value, divisor = (5**q, 1) if q >= 0 else (1, 5**-q)
    shift = bits + divisor.bit_length() - value.bit_length() + 1
    m = (value << shift) // divisor if shift >= 0 else (value >> -shift) // divisor
    return m >> (m.bit_length() - bits)


def words(m, count):
    return ", ".join("0x%016x" % (m >> 64 * k & (2**64 - 1)) for k in reversed(range(count)))


for q in range(-351, 325, 27):
    for k in range(27):
        product = leading(q, 192) * leading(k, 64)
        m = product >> (product.bit_length() - 128)
        assert m == leading(q + k, 128), (q, k)

print("/* Made by number_powers.py: the 192 leading bits of every 27th power of ten; whether the next 27 are rounded up. */")
for q in range(-351, 325, 27):
    print("LSP_POWERS(%s, %d) /* %d */" % (words(leading(q, 192), 3), q == -27, q))
