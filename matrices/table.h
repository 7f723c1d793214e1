/* A list of functions on a GPU, LIST(E) of lines E(name, (parameters)), as a table of them: gpu/table.c. In a build
 * without CUDA the tables are empty (gpu/none.c): no context there works on a GPU, and lsp_csr_check_device refuses a
 * matrix that lies on one before a function is called. */
#pragma once

/* clang-format takes pointers among the parameters for products, so files switch it off around a list. */
#define LSP_GPU_PROTOTYPE(name, parameters) lsp_status lsp_##name##_cuda parameters;
#define LSP_GPU_MEMBER(name, parameters) lsp_status(*name) parameters;
#define LSP_GPU_ENTRY(name, parameters) lsp_##name##_cuda,

/* Declares `object`, the table of LIST. */
#define LSP_GPU_TABLE(object, LIST)                                                                                    \
    LIST(LSP_GPU_PROTOTYPE)                                                                                            \
    typedef struct object##_table {                                                                                    \
        LIST(LSP_GPU_MEMBER)                                                                                           \
    } object##_table;                                                                                                  \
    extern const object##_table object;
