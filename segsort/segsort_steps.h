/* Template by KEY and WORD: words of a segment's keys, and the sorted keys and values from sorted words. */
#define NAME(f) LSP_PASTE(LSP_PASTE(f, KEY_SUFFIX), WORD_SUFFIX)

static void NAME(build)(const lsp_segment *segment, int64_t begin, int64_t end, void *words_) {
    const KEY *keys = segment->keys;
    WORD *words = words_;
    const lsp_key_order order = segment->order;
    const KEY min = (KEY)segment->min;
    const int bits = segment->position_bits;
    if (bits == 0) { /* keys alone: equal ones need not be told apart */
        for (int64_t i = begin; i < end; i++) {
            words[i] = (WORD)(KEY_NAME(number)(keys[i], &order) - min);
        }
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        words[i] = ((WORD)(KEY_NAME(number)(keys[i], &order) - min) << bits) | (WORD)i;
    }
}

#define MOVE(type)                                                                                                     \
    for (int64_t i = begin; i < end; i++) {                                                                            \
        ((type *)segment->values_out)[i] = ((const type *)segment->values)[words[i] & mask];                           \
    }

static void NAME(finish)(const lsp_segment *segment, int64_t begin, int64_t end, const void *words_) {
    const WORD *words = words_;
    KEY *keys_out = segment->keys_out;
    const lsp_key_order order = segment->order;
    const KEY min = (KEY)segment->min;
    const int bits = segment->position_bits;
    const WORD mask = ((WORD)1 << bits) - 1;
    if (segment->has_nan) {
        for (int64_t i = begin; i < end; i++) {
            keys_out[i] = ((const KEY *)segment->keys)[words[i] & mask];
        }
    } else {
        for (int64_t i = begin; i < end; i++) {
            keys_out[i] = KEY_NAME(key)((KEY)((KEY)(words[i] >> bits) + min), &order);
        }
    }
    switch (segment->value_bytes) {
    case 0:
        break;
    case 4:
        MOVE(uint32_t) break;
    case 8:
        MOVE(uint64_t) break;
    default:
        MOVE(lsp_value16) break;
    }
}

#undef MOVE
#undef NAME
#undef WORD
#undef WORD_SUFFIX
