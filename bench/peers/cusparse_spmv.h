/* Products with vectors by NVIDIA's cuSPARSE: cusparse_spmv.c, in a build that has its header. Loaded at run time. */
#pragma once

#include "peers.h"

typedef enum peer_cusparse_spmv_way {
    PEER_SPMV_CSR1,  /* SpMV, CSR ALG1, preprocessed */
    PEER_SPMV_CSR2,  /* SpMV, CSR ALG2, preprocessed */
    PEER_SPMV_COO,   /* SpMV, COO ALG2 */
    PEER_SPMV_SELL,  /* SpMV, slices of 32 rows, padded */
    PEER_SPMV_OP1,   /* SpMVOp, ALG1: where the library has it (12.7.3 and later) */
    PEER_SPMV_OP2,   /* SpMVOp, ALG2: 12.8.1 and later */
    PEER_SPMV_SPMM2, /* SpMM, CSR ALG2, several vectors by rows */
    PEER_SPMV_SPMM3, /* SpMM, CSR ALG3, preprocessed */
    PEER_SPMV_WAYS
} peer_cusparse_spmv_way;

/* In the order of the enum. */
extern const peer_spmv peer_cusparse_spmv[PEER_SPMV_WAYS];
extern const char *const peer_cusparse_spmv_names[PEER_SPMV_WAYS];

const char *peer_cusparse_spmv_version(void); /* "cuSPARSE 12.6.3"; NULL: not loaded */
