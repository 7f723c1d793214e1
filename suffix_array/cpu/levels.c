/* The sort of all suffixes of a text of codes, and of the texts of names below it. */
#include "cpu.h"

enum {
    LSP_SAMPLE_WANTED = 1 << 13, /* keys that are looked at */
    LSP_SAMPLE_MOST = 1 << 16,
    LSP_LOOK_PART = 1 << 18, /* suffixes; of more, an eighth is looked at first */
    LSP_BLOCK = 1 << 15,     /* entries of a thread in a block of induced sorting: what it keeps of them fits a cache */
    LSP_BLOCK_LEAST = 1 << 12, /* entries of a block that all threads share */
    LSP_FAR_ENTRIES = 64,      /* entries that a prefetch is ahead */
    LSP_FEW = 8                /* symbols are compared instead of ranks if at most one suffix in 8 is left */
};

/* The keys whose hash has `less` leading zeros. */
typedef struct lsp_key_sample {
    int less;
    int64_t count;
    uint64_t *keys;
} lsp_key_sample;

/* Shares of suffixes that are equal in their first keys, measured: see docs/measurements/suffix_array.md. */
static bool is_doubling_cheaper(double in_long) { return in_long < 0.15; }
static bool are_short_keys_enough(double in_short) { return in_short < 0.15; }

/* A level for each index, of BITS bits, and each KIND of symbol: b of 1 byte, h of 2, n a name, which is an index. */
typedef uint8_t symbol_b32, symbol_b64;
typedef uint16_t symbol_h32, symbol_h64;
typedef int32_t symbol_n32;
typedef int64_t symbol_n64;
#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define INDEX JOIN(int, BITS, _t)
#define UNSIGNED JOIN(uint, BITS, _t)
#define INDEX_TYPE JOIN(LSP_I, BITS, )
#define SYMBOL JOIN(symbol_, KIND, BITS)
#define T(name) JOIN(name##_, KIND, BITS)
#define SORT_NAMES JOIN(level_, n, BITS)

#define BITS 32
#define KIND n
#include "level_template.h"
#define KIND b
#include "level_template.h"
#define KIND h
#include "level_template.h"
#undef BITS
#define BITS 64
#define KIND n
#include "level_template.h"
#define KIND b
#include "level_template.h"
#define KIND h
#include "level_template.h"

lsp_status lsp_codes_sort(lsp_ctx *ctx, const lsp_codes *c, lsp_suffix_method method, void *suffixes,
                          lsp_suffix_info *info) {
    info->alphabet = c->kinds;
#define LEVEL(kind) level_##kind(ctx, c->at, c->n, c->kinds, c->count, c->first, method, suffixes, info)
#define LEVEL_OF(bits) (c->bytes == 1 ? LEVEL(b##bits) : c->bytes == 2 ? LEVEL(h##bits) : LEVEL(n##bits))
    return c->wide ? LEVEL_OF(64) : LEVEL_OF(32);
}

static lsp_status sort_array(lsp_ctx *ctx, const lsp_text *text, lsp_suffix_method method, lsp_type type,
                             void *suffixes, lsp_suffix_info *info) {
    LSP_SCRATCH_SCOPE(ctx);
    const bool wide = text->n > INT32_MAX;
    lsp_codes codes;
    void *narrow = suffixes;
    LSP_TRY(lsp_codes_make(ctx, text, wide, &codes));
    if (!wide && type == LSP_I64) {
        LSP_TRY(lsp_scratch_bytes(ctx, text->n, sizeof(int32_t), false, &narrow));
    }
    LSP_TRY(lsp_codes_sort(ctx, &codes, method, narrow, info));
    for (int64_t i = 0; i < text->n && narrow != suffixes; i++) {
        ((int64_t *)suffixes)[i] = ((int32_t *)narrow)[i];
    }
    return LSP_OK;
}

const lsp_suffix_device lsp_suffix_cpu = {sort_array, lsp_suffix_prefixes_cpu, lsp_suffix_invert_cpu};
