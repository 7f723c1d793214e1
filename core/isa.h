/* Sources compiled once for each instruction set (lsp_isa_source in CMakeLists.txt), and the choice of a copy. */
#pragma once

#include "core.h"

#define LSP_PASTE_(a, b) a##b
#define LSP_PASTE(a, b) LSP_PASTE_(a, b)
#ifdef LSP_ISA_SUFFIX
#define LSP_ISA_NAME(f) LSP_PASTE(f, LSP_ISA_SUFFIX) /* the copy being compiled */
#endif

/* LSP_ISA_PICK(isa, f): the copy of f for an instruction set. LSP_PORTABLE: this build has only one copy. */
#if defined(__x86_64__) && !defined(LSP_PORTABLE)
#define LSP_ISA_PICK(isa, f) ((isa) == LSP_ISA_AVX512 ? f##_avx512 : (isa) == LSP_ISA_AVX2 ? f##_avx2 : f##_portable)
#else
#define LSP_ISA_PICK(isa, f) ((void)(isa), f##_portable)
#endif

/* The best instruction set that this processor and its operating system offer. */
lsp_isa lsp_isa_detect(void);
const char *lsp_isa_name(lsp_isa isa);
