/* Template by COL: the rows of spgemm_rows.h for each type of arithmetic. */
#define VALUE uint8_t
#define VALUE_SUFFIX _none
#define HAS_VALUES 0
#include "spgemm_rows.h"

#define VALUE float
#define VALUE_SUFFIX _f32
#define HAS_VALUES 1
#define FMA fmaf
#define NOTHING (-0.0F)
#define SETTLED settled_f32
#include "spgemm_rows.h"

#define VALUE double
#define VALUE_SUFFIX _f64
#define HAS_VALUES 1
#define FMA fma
#define NOTHING (-0.0)
#define SETTLED settled_f64
#include "spgemm_rows.h"

#undef COL
#undef COL_SUFFIX
