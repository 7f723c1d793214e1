/* Calls a function template for the types of a job's values and vectors. */
#ifndef LSP_SPMV_GPU_TYPES_CUH
#define LSP_SPMV_GPU_TYPES_CUH

#include "arith.cuh"

/* SPMV_BY_TYPES(job, f, (arguments)): f<V, T>(arguments) for the five pairs of types. */
#define SPMV_BY_TYPES(given, f, arguments)                                                                             \
    ((given)->options.type == LSP_F32                                                                                  \
         ? (given)->A.val_type == LSP_F32 ? f<float, float> arguments : f<spmv_one, float> arguments                   \
     : (given)->A.val_type == LSP_F64 ? f<double, double> arguments                                                    \
     : (given)->A.val_type == LSP_F32 ? f<float, double> arguments                                                     \
                                      : f<spmv_one, double>                                                            \
                                            arguments)

#endif
