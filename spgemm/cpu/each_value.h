/* Includes TEMPLATE for patterns and for each type of arithmetic. A template has VALUE and VALUE_SUFFIX; FMA, the sum
 * and one product more; NOTHING, the sum before its first product; and undefines these four. Both read `semiring`.
 * SETTLED: every NaN becomes the same. A_VALUE: of a factor A, whose values are of this type, or of any real one if the
 * arithmetic is real. RANK_OF: see core/top.h. VALUES: an array of values from `at` on. Of a pattern, HAS_VALUES 0,
 * nothing is read or written. */
#define VALUES(array, at) (HAS_VALUES ? (VALUE *)(array) + (at) : NULL)
#define HAS_VALUES 0
#define A_VALUE(A, e) ((void)(e), (VALUE)0)
#define SETTLED(sum) (sum)
#define RANK_OF(value) ((void)(value), 0)
#define VALUE uint8_t
#define VALUE_SUFFIX _none
#define FMA(a, b, sum) ((void)semiring, (void)(a), (void)(b), sum)
#define NOTHING ((void)semiring, (VALUE)0)
#include TEMPLATE
#undef HAS_VALUES
#undef A_VALUE
#undef SETTLED
#undef RANK_OF

#define HAS_VALUES 1
#define A_VALUE(A, e) (VALUE) lsp_spgemm_value_at(A, e)
#define SETTLED(sum) ((sum) == (sum) ? (sum) : (VALUE)NAN)
#define RANK_OF(value) lsp_rank_of(fabs((double)(value)))
#define VALUE float
#define VALUE_SUFFIX _f32
#define FMA(a, b, sum) ((void)semiring, fmaf(a, b, sum))
#define NOTHING ((void)semiring, -0.0F)
#include TEMPLATE
#define VALUE double
#define VALUE_SUFFIX _f64
#define FMA(a, b, sum) ((void)semiring, fma(a, b, sum))
#define NOTHING ((void)semiring, -0.0)
#include TEMPLATE
#define VALUE float
#define VALUE_SUFFIX _any_f32
#define FMA(a, b, sum) join_f32(semiring, a, b, sum)
#define NOTHING ((float)lsp_semiring_empty(semiring))
#include TEMPLATE
#define VALUE double
#define VALUE_SUFFIX _any_f64
#define FMA(a, b, sum) join_f64(semiring, a, b, sum)
#define NOTHING lsp_semiring_empty(semiring)
#include TEMPLATE
#undef A_VALUE
#undef SETTLED
#undef RANK_OF

#define A_VALUE(A, e) ((const VALUE *)(A)->val)[e]
#define SETTLED complex_settled
#define RANK_OF complex_rank
#define VALUE complex_value
#define VALUE_SUFFIX _complex
#define FMA(a, b, sum) ((void)semiring, complex_fma(a, b, sum))
#define NOTHING ((void)semiring, COMPLEX_NOTHING)
#include TEMPLATE
#undef SETTLED
#undef RANK_OF

#define SETTLED(sum) (sum)
#define RANK_OF(value) lsp_whole_size(value)
#define VALUE int64_t
#define VALUE_SUFFIX _i64
#define FMA(a, b, sum) ((void)semiring, integer_fma(a, b, sum))
#define NOTHING ((void)semiring, (VALUE)0)
#include TEMPLATE
#define VALUE int64_t
#define VALUE_SUFFIX _any_i64
#define FMA(a, b, sum) join_i64(semiring, a, b, sum)
#define NOTHING lsp_semiring_empty_i64(semiring)
#include TEMPLATE
#undef A_VALUE
#undef SETTLED
#undef RANK_OF
#undef HAS_VALUES
#undef VALUES
#undef TEMPLATE
