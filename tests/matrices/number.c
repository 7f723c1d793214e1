/* Numbers to text and back: the same bits as by the C library, and the fewest digits. */
#include "matrices/mtx/number_text.h"
#include "tests/support.h"

#include <float.h>
#include <math.h>

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

/* Both ways of reading must give the value and the end of the number that strtod gives. */
static void check_text(const char *text) {
    char line[4096], *end;
    int length = snprintf(line, sizeof line, "%s\n                ", text);
    cr_assert(length < (int)sizeof line);
    double want = strtod(line, &end), quick = -1, slow = -1;
    const char *quick_end = lsp_parse_double(line, &quick), *slow_end = lsp_parse_double_slow(line, &slow);
    cr_assert(quick_end == end && same(quick, want), "'%s': %a, not %a", text, quick, want);
    cr_assert(slow_end == end && same(slow, want), "'%s' the slow way: %a, not %a", text, slow, want);
}

static void refuse_text(const char *text) {
    char line[256];
    double value = -1;
    snprintf(line, sizeof line, "%s\n                ", text);
    cr_assert(lsp_parse_double(line, &value) == NULL && value == -1, "'%s' was read as %g", text, value);
}

/* The printed number must read back to the same bits, and no number with one digit less may do so. */
static void check_double(double value) {
    char text[lsp_number_bytes + 1], shorter[64], line[128];
    char *end = lsp_print_double(text, value);
    *end = 0;
    cr_assert(end - text <= 26, "'%s' is long", text);
    cr_assert(same(strtod(text, NULL), value), "%a was printed as '%s'", value, text);
    snprintf(line, sizeof line, "%s\n                ", text);
    double again = -1;
    cr_assert(lsp_parse_double(line, &again) == line + (end - text) && same(again, value), "'%s': %a, not %a", text,
              again, value);
    if (!isfinite(value) || value == 0 || (floor(value) == value && fabs(value) < 0x1p53)) {
        return;
    }
    int digits = 0, zeros = 0;
    for (const char *p = text; *p && *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9' && (digits > 0 || *p != '0')) {
            digits++;
            zeros = *p == '0' ? zeros + 1 : 0;
        }
    }
    digits -= zeros;
    if (digits > 1) {
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        cr_assert(strtod(shorter, NULL) != value, "'%s' is longer than '%s'", text, shorter);
    }
}

static void check_float(float value) {
    char text[lsp_number_bytes + 1], shorter[64];
    *lsp_print_float(text, value) = 0;
    float again = strtof(text, NULL);
    cr_assert(memcmp(&again, &value, sizeof value) == 0 || isnan(value), "%a was printed as '%s'", (double)value, text);
    if (isfinite(value) && floorf(value) != value) {
        int digits = 0;
        for (const char *p = text; *p && *p != 'e'; p++) {
            digits += *p >= '0' && *p <= '9' && (digits > 0 || *p != '0');
        }
        snprintf(shorter, sizeof shorter, "%.*e", digits > 1 ? digits - 2 : 0, (double)value);
        cr_assert(digits == 1 || strtof(shorter, NULL) != value, "'%s' is longer than '%s'", text, shorter);
    }
}

Test(number, the_table_holds_the_powers_of_ten) {
    for (int q = lsp_power_least; q <= lsp_power_most; q++) {
        const uint64_t *power = lsp_powers[q - lsp_power_first];
        cr_assert(power[0] >> 63 == 1, "10^%d", q);
        if (q == 0) {
            cr_assert(power[0] == UINT64_C(1) << 63 && power[1] == 0);
            continue;
        }
        /* A power is ten times the one below: once normalised, 1.25 or 0.625 of it, except for the last bits. */
        const uint64_t *below = power - 2;
        if (q > lsp_power_least) {
            unsigned __int128 m = (unsigned __int128)below[0] << 64 | below[1], got;
            unsigned __int128 ten = m / 8 * 5, tolerance = 16; /* m * 10 / 16 */
            ten = ten >> 127 ? ten : ten << 1;
            got = (unsigned __int128)power[0] << 64 | power[1];
            unsigned __int128 apart = got > ten ? got - ten : ten - got;
            cr_assert(apart < tolerance, "10^%d", q);
        }
        if (q >= 0 && q <= 27) { /* exact */
            uint64_t value = 1;
            for (int i = 0; i < q && i < 19; i++) {
                value *= 10;
            }
            cr_assert(q > 19 || (power[0] == value << __builtin_clzll(value) && power[1] == 0), "10^%d", q);
        }
        /* Compares with the C library: the leading 53 bits of 10^q, rounded down. */
        if (q >= -300 && q <= 308) {
            char text[16];
            snprintf(text, sizeof text, "1e%d", q);
            int exponent;
            double fraction = frexp(strtod(text, NULL), &exponent);
            cr_assert(fabs(ldexp((double)(power[0] >> 11), -53) - fraction) <= 0x1p-53, "10^%d", q);
        }
    }
}

Test(number, adversarial_texts_read_as_the_c_library_reads_them) {
    static const char *const texts[] = {
        "0",
        "-0",
        "+0",
        "0.0",
        ".5",
        "5.",
        "-.5e1",
        "1e5",
        "1E+05",
        "1e-5",
        "1e",
        "1e+",
        "1.5x",
        "12.3.4",
        "00012",
        "1e23",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.0000000000000000000000001",
        "9007199254740995",
        "9007199254740991.5",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "1e22",
        "123456789012345678901234567890",
        "8.41776141637394e+24",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "5e-324",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e400",
        "1e-400",
        "1e99999999999",
        "1e-99999999999",
        "0e99999999999999999999",
        "0.000000000000000000000000000000000001",
        "100000000000000016777215",
        "100000000000000016777216",
        "3.2378839133029012895883524125015321748630094e-20",
        "6.9294956446009195e15",
        "1.0000000000000001110223024625156540423631668090820312500000000000",
        "1.0000000000000001110223024625156540423631668090820312500000000001",
        "1.0000000000000001110223024625156540423631668090820312499999999999",
        "0.1000000000000000055511151231257827021181583404541015625",
        "7.0420557077594588669468784357561207962098e-20",
        "inf",
        "-inf",
        "INF",
        "Infinity",
        "-infinity",
        "nan",
        "NaN",
        "-nan",
        "1.0e+0000000000000000005",
        "12345678",
        "123456789",
        "1234567.8",
        "12345678.12345678",
        "1.234567812345678e-3",
        "2e-5",
        "infinit",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check_text(texts[i]);
    }
    static const char *const refused[] = {"", ".", "-", "+", "e5", "-e5", "--1", "+-1", "abc", ".e1", "in", "na", ",5"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        refuse_text(refused[i]);
    }
    char line[64] = "1.0D+3\n               ";
    double value = 0;
    cr_assert(lsp_parse_double(line, &value) == line + 6 && value == 1000);
    cr_assert(lsp_parse_double_slow(line, &value) == line + 6 && value == 1000);
    strcpy(line, "0x10\n               "); /* hexadecimal is not read: the number ends after the 0 */
    cr_assert(lsp_parse_double(line, &value) == line + 1 && value == 0);
    strcpy(line, "1234567890123456789012345d-20\n               ");
    cr_assert(lsp_parse_double(line, &value) == line + 29 && value == 12345.67890123456789012345);
}

/* The midpoint between two neighbours with all its digits, and numbers just below and just above it. */
Test(number, halfway_cases_round_to_even) {
    uint64_t state = 7;
    char text[1200];
    for (int i = 0; i < 20000; i++) {
        int64_t exponent = i % 4 == 0 ? 0 : 1 + test_below(&state, 2045);
        double value = from_bits((uint64_t)exponent << 52 | test_random(&state) >> 12),
               next = nextafter(value, INFINITY);
        if (exponent > 900 &&
            exponent < 1200) { /* the long double of most machines holds it exactly, others only nearly */
            long double middle = (long double)value + ((long double)next - (long double)value) / 2;
            snprintf(text, sizeof text, "%.800Lg", middle);
            check_text(text);
        }
        snprintf(text, sizeof text, "%.780g", value);
        check_text(text);
        for (int digits = 17; digits < 24; digits++) {
            snprintf(text, sizeof text, "%.*e", digits - 1, value + (next - value) / 2);
            check_text(text);
        }
    }
    long double least = 0x1p-1074L; /* subnormals: multiples of half the least one */
    for (int i = 1; i < 2000; i += 2) {
        snprintf(text, sizeof text, "%.1100Lg", least * (long double)i / 2);
        check_text(text);
        text[strlen(text) / 2] = (char)(text[strlen(text) / 2] == '9' ? '8' : text[strlen(text) / 2] + 1);
        check_text(text);
    }
    memset(text, '7', 1000); /* more digits than any buffer holds */
    strcpy(text + 1000, "e-900");
    check_text(text);
    memset(text, '0', 900);
    text[1] = '.';
    strcpy(text + 900, "123e905");
    check_text(text);
}

Test(number, random_numbers_read_and_print_exactly) {
    uint64_t state = 1;
    char text[64];
    for (int i = 0; i < 700000; i++) {
        uint64_t bits = test_random(&state);
        if (i % 3 == 1) { /* of usual size */
            bits = (bits & 0x800fffffffffffff) | (uint64_t)(1003 + test_below(&state, 60)) << 52;
        }
        if (i % 7 == 3) { /* few bits */
            bits &= ~UINT64_C(0) << test_below(&state, 52);
        }
        if (i % 11 == 5) { /* subnormal */
            bits &= 0x800fffffffffffff;
        }
        double value = from_bits(bits);
        if (isnan(value)) {
            continue;
        }
        snprintf(text, sizeof text, "%.17g", value);
        check_text(text);
        snprintf(text, sizeof text, "%.*e", (int)test_below(&state, 25), value);
        check_text(text);
        check_double(value);
        check_float((float)value);
        uint32_t low = (uint32_t)bits;
        float small;
        memcpy(&small, &low, sizeof small);
        check_float(small);
    }
    for (int q = -330; q < 310; q++) {
        for (int digits = 1; digits < 20; digits++) { /* short decimals, whose neighbours' midpoints are close */
            snprintf(text, sizeof text, "%llue%d", (unsigned long long)(test_random(&state) >> (64 - 3 * digits)), q);
            check_text(text);
            check_double(strtod(text, NULL));
        }
    }
    for (int e = 1; e < 2047; e++) { /* powers of two: the neighbour below is nearer */
        check_double(from_bits((uint64_t)e << 52));
        check_double(from_bits(((uint64_t)e << 52) - 1));
        check_double(from_bits(((uint64_t)e << 52) + 1));
    }
    for (uint32_t e = 1; e < 255; e++) {
        uint32_t bits = e << 23;
        float value;
        memcpy(&value, &bits, sizeof value);
        check_float(value);
    }
}

static void print_is(const char *want, double value) {
    char text[lsp_number_bytes + 1];
    *lsp_print_double(text, value) = 0;
    cr_assert(strcmp(text, want) == 0, "'%s', not '%s'", text, want);
}

Test(number, printing_is_plain_where_that_is_short) {
    print_is("4", 4);
    print_is("-1", -1);
    print_is("0", 0);
    print_is("-0", -0.0);
    print_is("0.1", 0.1);
    print_is("-2.5", -2.5);
    print_is("0.0001", 0.0001);
    print_is("1e-5", 1e-5);
    print_is("1.5e-7", 1.5e-7);
    print_is("100000", 1e5);
    print_is("1e23", 1e23);
    print_is("10000000000000000", 1e16);
    print_is("1e22", 1e22);
    print_is("123456.75", 123456.75);
    print_is("5e-324", 5e-324);
    print_is("2.2250738585072014e-308", DBL_MIN);
    print_is("-1.7976931348623157e308", -DBL_MAX);
    print_is("9007199254740991", 9007199254740991);
    print_is("inf", INFINITY);
    print_is("-inf", -INFINITY);
    print_is("nan", (double)NAN);
    char text[lsp_number_bytes + 1];
    *lsp_print_float(text, 0.1F) = 0;
    cr_assert_str_eq(text, "0.1");
    *lsp_print_float(text, 16777216.0F) = 0;
    cr_assert_str_eq(text, "16777216");
    *lsp_print_int(text, INT64_MIN) = 0;
    cr_assert_str_eq(text, "-9223372036854775808");
    *lsp_print_int(text, INT64_MAX) = 0;
    cr_assert_str_eq(text, "9223372036854775807");
    for (int64_t value = 1, digits = 1; digits < 19; value *= 10, digits++) {
        *lsp_print_int(text, value) = 0;
        cr_assert((int64_t)strlen(text) == digits && strtoll(text, NULL, 10) == value, "'%s'", text);
        *lsp_print_int(text, value - 1) = 0;
        cr_assert(strtoll(text, NULL, 10) == value - 1, "'%s'", text);
    }
}
