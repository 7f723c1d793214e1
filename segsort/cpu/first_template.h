/* Template by KEY: finds the first items of a segment in one pass. Items whose number is below a limit are collected as
 * candidates. When there is no more room, they are sorted and all but the first ones dropped; the last of these is the
 * new limit. Items come in order, so one whose number equals the limit comes too late, and the choice is stable. */

/* Sorts `count` candidates and keeps at most `first`; returns how many. */
static int64_t KEY_NAME(keep_first)(const lsp_task *sort, const lsp_sort_workspace *workspace, lsp_sort_chosen *c,
                                    int64_t count, int64_t first) {
    const lsp_task inner = {.order = sort->order, .key_bytes = sizeof(KEY), .value_bytes = sizeof(int64_t)};
    const lsp_sort_place place = {.keys = c->keys[0],
                                  .keys_out = c->keys[1],
                                  .keys_spare = c->keys[2],
                                  .values = c->places[0],
                                  .values_out = c->places[1],
                                  .values_spare = c->places[2]};
    lsp_sort_workspace own = *workspace;
    own.near = 0; /* these arrays are for values of another size */
    own.lines = NULL;
    if (count > 1) {
        KEY_NAME(sort_segment)(&inner, &own, &place, count);
        c->keys[0] = place.keys_out, c->keys[1] = (char *)(uintptr_t)place.keys;
        c->places[0] = place.values_out, c->places[1] = (char *)(uintptr_t)place.values;
    }
    return lsp_min(count, first);
}

/* Contract: lsp_sort_kernels (cpu.h). */
static int64_t KEY_NAME(choose)(const lsp_task *sort, const lsp_sort_workspace *workspace, lsp_sort_chosen *c,
                                int64_t begin, int64_t end) {
    const KEY *keys = (const KEY *)(const void *)c->from;
    const int64_t first = sort->args->first;
    const lsp_key_order order = sort->order;
    int64_t count = 0;
    bool limited = false;
    KEY limit = 0;
    for (int64_t part = begin; part < end; part += SORT_CHOICE_PART) {
        const int64_t n = lsp_min(SORT_CHOICE_PART, end - part);
        KEY number[SORT_CHOICE_PART], below = 0;
        if (count + SORT_CHOICE_PART > c->room) {
            count = KEY_NAME(keep_first)(sort, workspace, c, count, first);
            limit = KEY_NAME(number)(((const KEY *)(const void *)c->keys[0])[first - 1], &order);
            limited = true;
        }
        prefetch(c->from, part + FETCH_AHEAD, sizeof(KEY), n, false);
        for (int64_t i = 0; i < n; i++) {
            number[i] = KEY_NAME(number)(keys[part + i], &order);
            below |= number[i] < limit;
        }
        if (limited && !below) {
            continue;
        }
        KEY *to = (KEY *)(void *)c->keys[0];
        int64_t *place = (int64_t *)(void *)c->places[0];
        for (int64_t i = 0; i < n; i++) {
            to[count] = keys[part + i];
            place[count] = part + i;
            count += !limited | (number[i] < limit);
        }
    }
    return KEY_NAME(keep_first)(sort, workspace, c, count, first);
}
