/* Template by VALUE, FMA, TIMES and SETTLED: makes rows of C in a hash table. Sums are made in the order of A's
 * entries: the first product is rounded, the others are added by fused multiply-add. */
#define NAME(f) LSP_PASTE(f, VALUE_SUFFIX)

/* Adds the product a*b to the row's sum of column j. False: the row has too many columns. */
ALWAYS bool NAME(add)(lsp_hash_table *table, row_state *row, uint32_t j, VALUE a, VALUE b) {
    VALUE *sums = (VALUE *)table->sums;
    const uint64_t key = row->stamp | j;
    for (uint32_t slot = first_slot(j);; slot = (slot + 1) % LSP_HASH_SLOTS) {
        const uint64_t found = table->keys[slot];
        if (found == key) {
            VALUE *sum = &sums[table->numbers[slot]];
            *sum = FMA(a, b, *sum);
            return true;
        }
        if ((found ^ key) >> 32 != 0) { /* empty */
            if (row->count == LSP_HASH_COLUMNS) {
                return false;
            }
            row->ascending &= row->count == 0 || j > row->newest;
            row->newest = j;
            table->keys[slot] = key;
            table->numbers[slot] = (uint16_t)row->count;
            table->columns[row->count] = (uint64_t)j << 32 | row->count;
            sums[row->count++] = TIMES(a, b);
            return true;
        }
    }
}

/* Adds up row i. Returns its products; -1 if it has too many columns. */
ALWAYS int64_t NAME(add_row)(const lsp_hash_job *job, int64_t i, bool far, row_state *row) {
    const int32_t *a_rowptr = job->A->rowptr, *a_col = job->A->col, *b_rowptr = job->B->rowptr, *b_col = job->B->col;
    const VALUE *a_val = job->A->val, *b_val = job->B->val;
    int64_t products = 0;
    for (int32_t e = a_rowptr[i]; e < a_rowptr[i + 1]; e++) {
        const int32_t begin = b_rowptr[a_col[e]], end = b_rowptr[a_col[e] + 1];
        if (far) {
            fetch_ahead(job->A, job->B, e, sizeof(VALUE));
        }
        for (int32_t q = begin; q < end; q++) {
            if (!NAME(add)(job->table, row, (uint32_t)b_col[q], a_val[e], b_val[q])) {
                return -1;
            }
        }
        products += end - begin;
    }
    return products;
}

/* Writes the row to C, from entry `at` on. */
ALWAYS void NAME(put_row)(const lsp_hash_job *job, const row_state *row, int64_t at) {
    uint64_t *columns = job->table->columns;
    const VALUE *sums = (const VALUE *)job->table->sums;
    VALUE *val = (VALUE *)job->val + at;
    int32_t *col = job->col + at;
    if (!row->ascending) {
        sort_columns(columns, row->count);
    }
    for (uint32_t r = 0; r < row->count; r++) {
        const VALUE sum = sums[(uint32_t)columns[r]];
        col[r] = (int32_t)(columns[r] >> 32);
        val[r] = SETTLED(sum);
    }
}

ALWAYS int64_t NAME(make_rows)(lsp_hash_job *job, bool far) {
    int64_t at = 0, i = job->next;
    for (; i < job->last && at + LSP_HASH_COLUMNS <= job->capacity; i++) {
        row_state row = {.stamp = ++job->table->rows << 32, .ascending = true};
        const int64_t products = NAME(add_row)(job, i, far, &row);
        if (products < 0) {
            return -1;
        }
        NAME(put_row)(job, &row, at);
        at += row.count;
        *job->ends++ = job->base + (int32_t)at;
        job->products += products;
        job->nnz_bound += lsp_min(products, job->B->cols);
        job->max_row_products = lsp_max(job->max_row_products, products);
    }
    job->next = i;
    return at;
}

static int64_t NAME(rows)(lsp_hash_job *job) {
    return job->far ? NAME(make_rows)(job, true) : NAME(make_rows)(job, false);
}

#undef NAME
#undef VALUE
#undef VALUE_SUFFIX
#undef FMA
#undef TIMES
#undef SETTLED
