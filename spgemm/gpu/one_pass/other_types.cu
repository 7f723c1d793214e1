/* C = A*B in one pass on a GPU, for integers, complex values, and the semirings that choose one product. */
#include "shapes.cuh"
#include "spgemm/gpu/integer.cuh"

lsp_status spg_one_pass_types(const lsp_spgemm_plan *plan, const spg_job *job, const one_pass_job *to,
                              one_pass_way way) {
#define MORE(V) one_pass_of<V>(plan->ctx, job, to, way)
    return plan->type == LSP_C64   ? MORE(complex_value)
           : plan->type == LSP_I64 ? (is_minmax(plan) ? MORE(minmax_integer) : MORE(integer_value))
           : plan->type == LSP_F64 ? MORE(minmax<double>)
                                   : MORE(minmax<float>);
#undef MORE
}
