/* The transpose of a matrix where (j, i) is an entry if (i, j) is one: it has the pattern of A, and the values of the
 * mirrored entries. */
#pragma once

#include "view.cuh"

/* Writes the arrays of B = A^T that are not NULL. *done = false: A is not of that kind, or a row does not ascend
 * strictly; a sample of the rows shows it in nearly all cases. Otherwise A was checked, unless `name` is NULL, whose
 * caller has checked it. Waits. */
lsp_status lsp_csr_mirror_entries(lsp_ctx *ctx, const char *name, const lsp_csr *A, const gpu_csr &B, bool *done);
