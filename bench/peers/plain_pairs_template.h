/* plain_pairs.c for one type. REAL: a coordinate; WHOLE: an unsigned integer as wide; NAME(f): the name of its copy of
 * f; CALL(f): the function of math.h. */

static inline REAL NAME(open)(REAL dx, REAL dy, REAL dz) { return CALL(fma)(dz, dz, CALL(fma)(dy, dy, dx * dx)); }

/* d2[l] = the squared distance of point i and point first + l. */
static void NAME(block)(const peer_pairs_job *job, int64_t i, int64_t first, int64_t n, REAL *d2) {
    const lsp_points *p = &job->points;
    const REAL box = (REAL)job->box, per_box = box > 0 ? 1 / box : 0;
    if (p->dimensions == 3) {
        const REAL *restrict x = p->at[0], *restrict y = p->at[1], *restrict z = p->at[2];
        for (int64_t l = 0; l < n && box == 0; l++) {
            d2[l] = NAME(open)(x[i] - x[first + l], y[i] - y[first + l], z[i] - z[first + l]);
        }
        for (int64_t l = 0; l < n && box > 0; l++) {
            const REAL dx = x[i] - x[first + l], dy = y[i] - y[first + l], dz = z[i] - z[first + l];
            d2[l] = NAME(open)(dx - box * CALL(rint)(dx * per_box), dy - box * CALL(rint)(dy * per_box),
                               dz - box * CALL(rint)(dz * per_box));
        }
        return;
    }
    for (int k = 0; k < p->dimensions; k++) {
        const REAL *x = p->at[k], mine = x[i];
        if (k == 0) {
            for (int64_t l = 0; l < n; l++) {
                d2[l] = (mine - x[first + l]) * (mine - x[first + l]);
            }
        } else {
            for (int64_t l = 0; l < n; l++) {
                const REAL d = mine - x[first + l];
                d2[l] = CALL(fma)(d, d, d2[l]);
            }
        }
    }
}

static int64_t NAME(within)(const REAL *d2, int64_t n, REAL limit) {
    WHOLE sum = 0;
    for (int64_t l = 0; l < n; l++) {
        sum += d2[l] <= limit;
    }
    return (int64_t)sum;
}

/* Pairs of point i with those behind it, in open space. */
static uint64_t NAME(count_row)(const peer_pairs_job *job, int64_t i, REAL limit) {
    const REAL *restrict x = job->points.at[0], *restrict y = job->points.at[1], *restrict z = job->points.at[2];
    const REAL a = x[i], b = y[i], c = z[i];
    WHOLE sum = 0;
    for (int64_t l = i + 1; l < job->points.n; l++) {
        sum += NAME(open)(a - x[l], b - y[l], c - z[l]) <= limit;
    }
    return sum;
}

/* Counts, counts of several radii, histograms: each pair once. */
static const char *NAME(count)(plain_pairs *p) {
    const peer_pairs_job *job = &p->job;
    const int64_t n = job->points.n;
    const bool radii = job->kind == PEER_PAIRS_COUNT || job->kind == PEER_PAIRS_RADII;
    const int bins = job->kind == PEER_PAIRS_COUNT ? 1 : job->bins;
    const REAL scale = (REAL)(bins / job->reach);
    memset(p->counts, 0, sizeof p->counts);
#pragma omp parallel num_threads(job->threads)
    {
        uint64_t mine[PEER_MOST_BINS + 1] = {0};
        REAL d2[BLOCK];
        int32_t bin[BLOCK];
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < n; i++) {
            if (job->kind == PEER_PAIRS_COUNT) {
                mine[0] += NAME(count_row)(job, i, (REAL)job->reach * (REAL)job->reach);
                continue;
            }
            for (int64_t first = i + 1; first < n; first += BLOCK) {
                const int64_t many = n - first < BLOCK ? n - first : BLOCK;
                NAME(block)(job, i, first, many, d2);
                for (int k = 0; k < bins && radii; k++) {
                    const REAL radius = (REAL)(job->reach * (k + 1) / bins);
                    mine[k] += (uint64_t)NAME(within)(d2, many, radius * radius);
                }
                if (!radii) {
                    for (int64_t l = 0; l < many; l++) {
                        const REAL at = CALL(sqrt)(d2[l]) * scale;
                        bin[l] = (int32_t)(at < (REAL)bins ? at : (REAL)bins);
                    }
                    for (int64_t l = 0; l < many; l++) {
                        mine[bin[l]]++;
                    }
                }
            }
        }
        for (int k = 0; k < bins; k++) {
            __atomic_fetch_add(&p->counts[k], mine[k], __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

/* The rows are counted, then filled. */
static const char *NAME(join)(plain_pairs *p) {
    const peer_pairs_job *job = &p->job;
    const int64_t n = job->points.n;
    const REAL limit = (REAL)job->reach * (REAL)job->reach;
    int64_t *rowptr = p->C.rowptr;
    rowptr[0] = 0;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
        REAL d2[BLOCK];
        rowptr[i + 1] = -1; /* the point itself */
        for (int64_t first = 0; first < n; first += BLOCK) {
            const int64_t many = n - first < BLOCK ? n - first : BLOCK;
            NAME(block)(job, i, first, many, d2);
            rowptr[i + 1] += NAME(within)(d2, many, limit);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        rowptr[i + 1] += rowptr[i];
    }
    p->C.nnz = rowptr[n];
    int32_t *col = p->C.col = malloc((size_t)(p->C.nnz + 1) * sizeof *col);
    REAL *val = p->C.val = malloc((size_t)(p->C.nnz + 1) * sizeof *val);
    if (!col || !val) {
        return "not enough memory for the matrix";
    }
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
        REAL d2[BLOCK];
        int64_t to = rowptr[i];
        for (int64_t first = 0; first < n; first += BLOCK) {
            const int64_t many = n - first < BLOCK ? n - first : BLOCK;
            NAME(block)(job, i, first, many, d2);
            for (int64_t l = 0; l < many; l++) {
                if (d2[l] <= limit && first + l != i) {
                    col[to] = (int32_t)(first + l);
                    val[to++] = CALL(sqrt)(d2[l]);
                }
            }
        }
    }
    return NULL;
}

static const char *NAME(nearest)(plain_pairs *p) {
    const peer_pairs_job *job = &p->job;
    const int64_t n = job->points.n, most = n - 1 < job->bins ? n - 1 : job->bins;
    int64_t *rowptr = p->C.rowptr;
    p->C.nnz = n * most;
    int32_t *col = p->C.col = malloc((size_t)(p->C.nnz + 1) * sizeof *col);
    REAL *val = p->C.val = malloc((size_t)(p->C.nnz + 1) * sizeof *val);
    if (!col || !val) {
        return "not enough memory for the matrix";
    }
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
        REAL d2[BLOCK];
        plain_list list = {.most = (int)most};
        for (int64_t first = 0; first < n; first += BLOCK) {
            const int64_t many = n - first < BLOCK ? n - first : BLOCK;
            NAME(block)(job, i, first, many, d2);
            if (list.n == most && NAME(within)(d2, many, (REAL)list.d2[list.last]) == 0) {
                continue;
            }
            for (int64_t l = 0; l < many; l++) {
                if (first + l != i && (list.n < most || d2[l] < (REAL)list.d2[list.last])) {
                    enter(&list, (double)d2[l], (int32_t)(first + l));
                }
            }
        }
        sort_by_id(&list);
        rowptr[i] = i * most;
        for (int k = 0; k < list.n; k++) {
            col[i * most + k] = list.id[k];
            val[i * most + k] = CALL(sqrt)((REAL)list.d2[k]);
        }
    }
    rowptr[n] = p->C.nnz;
    return NULL;
}

static const char *NAME(density)(plain_pairs *p) {
    const peer_pairs_job *job = &p->job;
    const int64_t n = job->points.n;
    const REAL scale = (REAL)(-0.5 / (job->reach * job->reach));
    REAL *density = p->density;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
        REAL d2[BLOCK];
        double sum = 0;
        for (int64_t first = 0; first < n; first += BLOCK) {
            const int64_t many = n - first < BLOCK ? n - first : BLOCK;
            NAME(block)(job, i, first, many, d2);
            for (int64_t l = 0; l < many; l++) {
                sum += (double)CALL(exp)(d2[l] * scale);
            }
        }
        density[i] = (REAL)sum;
    }
    return NULL;
}
