/* Includes PAIR_TEMPLATE for each pair of types: V of values and T of vectors. A pattern's values are ones: V has a
 * byte then, and is not read. */
#define TYPED(f) LSP_PASTE(f##_, T_NAME)
#define NAME(f) LSP_PASTE(f##_, LSP_PASTE(V_NAME, LSP_PASTE(_, T_NAME)))
#define IS_PATTERN (sizeof(V) == 1)

#define T double
#define T_NAME f64
#define V double
#define V_NAME f64
#include PAIR_TEMPLATE
#define V float
#define V_NAME f32
#include PAIR_TEMPLATE
#define V char
#define V_NAME ones
#include PAIR_TEMPLATE
#undef T
#undef T_NAME
#define T float
#define T_NAME f32
#define V float
#define V_NAME f32
#include PAIR_TEMPLATE
#define V char
#define V_NAME ones
#include PAIR_TEMPLATE
