/* The vector loops, compiled once for each instruction set. Products and sums are rounded one by one, so all sets give
 * the same bits. */
#include "core/isa.h"
#include "cpu.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* about vectors that functions return: these are always inlined */
#define ALWAYS static inline __attribute__((always_inline))

/* Sums have eight lanes. WIDTH: as many numbers as a register holds; compilers keep wider vectors in memory. */
#ifdef __AVX512F__
enum { LANES = 8, WIDTH = 8 };
#elif defined __AVX__
enum { LANES = 8, WIDTH = 4 };
#else
enum { LANES = 8, WIDTH = 2 };
#endif
typedef double wide __attribute__((vector_size(WIDTH * sizeof(double))));

ALWAYS double add_lanes(wide (*lanes)[3], int k) {
    double s[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        s[lane] = lanes[lane / WIDTH][k][lane % WIDTH];
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

#define T double
#define NAME(f) f##_f64
#include "kernel_template.h"
#define T float
#define NAME(f) f##_f32
#include "kernel_template.h"

#define LINE(id, name, count) {name##_f32, name##_f64},
lsp_solve_kernel LSP_ISA_NAME(lsp_solve_kernel_of)(lsp_solve_loop_id id, lsp_type type) {
    static const lsp_solve_kernel kernels[][2] = {LSP_SOLVE_LOOPS(LINE)};
    return kernels[id][type == LSP_F64];
}
