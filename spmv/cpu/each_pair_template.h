/* Includes PAIR_TEMPLATE for each pair of types: VAL of values and T of vectors. A pattern's values are ones: VAL has a
 * byte then, and is not read. */
#define TYPED(f) LSP_PASTE(f##_, T_NAME)
#define NAME(f) LSP_PASTE(f##_, LSP_PASTE(VAL_NAME, LSP_PASTE(_, T_NAME)))
#define IS_PATTERN (sizeof(VAL) == 1)

#define T double
#define T_NAME f64
#define VAL double
#define VAL_NAME f64
#include PAIR_TEMPLATE
#define VAL float
#define VAL_NAME f32
#include PAIR_TEMPLATE
#define VAL char
#define VAL_NAME ones
#include PAIR_TEMPLATE
#undef T
#undef T_NAME
#define T float
#define T_NAME f32
#define VAL float
#define VAL_NAME f32
#include PAIR_TEMPLATE
#define VAL char
#define VAL_NAME ones
#include PAIR_TEMPLATE
