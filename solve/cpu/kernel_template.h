/* The vector loops for one type of vectors, T. Included by kernels.c. Every loop goes over a piece of the vectors,
 * eight numbers at a time in double precision, and adds up to three sums. Lane k of a sum adds the numbers k, k + 8,
 * ... of the piece, so the bits depend on the piece alone. */

typedef T NAME(packed) __attribute__((vector_size(8 * sizeof(T))));

ALWAYS eight NAME(load)(const T *from) {
    NAME(packed) x;
    memcpy(&x, from, sizeof x);
    return __builtin_convertvector(x, eight);
}
/* Stores *x and returns it as it was rounded. */
ALWAYS eight NAME(store_at)(T *to, const eight *x) {
    const NAME(packed) rounded = __builtin_convertvector(*x, NAME(packed));
    memcpy(to, &rounded, sizeof rounded);
    return __builtin_convertvector(rounded, eight);
}
ALWAYS double NAME(load_one)(const T *from) { return (double)*from; }
ALWAYS double NAME(store_one)(T *to, double x) {
    *to = (T)x;
    return (double)*to;
}

#define STORE_EIGHT(to, x)                                                                                             \
    ({                                                                                                                 \
        const eight stored_ = (x);                                                                                     \
        NAME(store_at)((to), &stored_);                                                                                \
    })

/* Repeats BODY(number, LOAD, STORE, S0, S1, S2) for i = begin ... end - 1, eight at a time and then one at a time. */
#define EACH(BODY)                                                                                                     \
    eight s0 = {0}, s1 = {0}, s2 = {0};                                                                                \
    int64_t i = begin;                                                                                                 \
    for (; i + 8 <= end; i += 8) {                                                                                     \
        BODY(eight, NAME(load), STORE_EIGHT, s0, s1, s2)                                                               \
    }                                                                                                                  \
    for (int lane = 0; i < end; i++, lane++) {                                                                         \
        BODY(double, NAME(load_one), NAME(store_one), s0[lane], s1[lane], s2[lane])                                    \
    }                                                                                                                  \
    sums[0] = add_lanes(&s0);                                                                                          \
    sums[1] = add_lanes(&s1);                                                                                          \
    sums[2] = add_lanes(&s2);

#define KERNEL(name) static void NAME(name)(const lsp_solve_loop *v, int64_t begin, int64_t end, double sums[3])
#define VECTOR(name) T *name = v->name;
#define INPUT(name) const T *name = v->name;

/* r = b - q, or b; x = 0 unless it holds a guess. b*b, r*r, r*(M r). */
KERNEL(start) {
    INPUT(b)
    INPUT(q)
    INPUT(inverse)
    VECTOR(r)
    VECTOR(r_hat)
    VECTOR(x)
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    const number bi = LOAD(b + i);                                                                                     \
    const number ri = STORE(r + i, q ? bi - LOAD(q + i) : bi);                                                         \
    if (!q) {                                                                                                          \
        STORE(x + i, (number){0});                                                                                     \
    }                                                                                                                  \
    if (r_hat) {                                                                                                       \
        STORE(r_hat + i, ri);                                                                                          \
    }                                                                                                                  \
    S0 += bi * bi;                                                                                                     \
    S1 += ri * ri;                                                                                                     \
    S2 += inverse ? ri * (ri * LOAD(inverse + i)) : ri * ri;
        EACH(BODY)
#undef BODY
}

/* p*q */
KERNEL(dot) {
    INPUT(p)
    INPUT(q)
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    const number pi = LOAD(p + i), qi = LOAD(q + i);                                                                   \
    S0 += pi * qi;
    EACH(BODY)
#undef BODY
}

/* Conjugate gradients: r -= alpha q. r*r, r*(M r). */
KERNEL(step) {
    INPUT(q) INPUT(inverse) VECTOR(r) const double alpha = v->alpha;
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    const number ri = STORE(r + i, LOAD(r + i) - alpha * LOAD(q + i));                                                 \
    S0 += ri * ri;                                                                                                     \
    S1 += inverse ? ri * (ri * LOAD(inverse + i)) : ri * ri;
    EACH(BODY)
#undef BODY
}

/* Conjugate gradients: x += alpha p if it is due, then p = M r + beta p unless the solver has ended. */
KERNEL(turn) {
    INPUT(inverse) VECTOR(x) VECTOR(p) const T *z = v->z ? v->z : v->r;
    const double alpha = v->alpha, beta = v->beta;
    const bool due = v->due, runs = v->runs;
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    if (due) {                                                                                                         \
        STORE(x + i, LOAD(x + i) + alpha * LOAD(p + i));                                                               \
    }                                                                                                                  \
    if (runs) {                                                                                                        \
        number zi = LOAD(z + i);                                                                                       \
        if (inverse) {                                                                                                 \
            zi = zi * LOAD(inverse + i);                                                                               \
        }                                                                                                              \
        STORE(p + i, beta != 0 ? zi + beta * LOAD(p + i) : zi);                                                        \
    }
    EACH(BODY)
#undef BODY
}

/* BiCGStab: x += alpha p_hat + omega s_hat if it is due, then p = r + beta (p - omega q) and p_hat = M p unless the
 * solver has ended. */
KERNEL(turn_stabilized) {
    INPUT(q)
    INPUT(r)
    INPUT(inverse)
    INPUT(s_hat) VECTOR(x) VECTOR(p) VECTOR(p_hat) const double alpha = v->alpha, beta = v->beta, omega = v->omega;
    const bool due = v->due, runs = v->runs;
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    if (due) {                                                                                                         \
        const number moved = LOAD(x + i) + alpha * LOAD(p_hat + i);                                                    \
        STORE(x + i, omega != 0 ? moved + omega * LOAD(s_hat + i) : moved);                                            \
    }                                                                                                                  \
    if (runs) {                                                                                                        \
        number pi = LOAD(r + i);                                                                                       \
        if (beta != 0) {                                                                                               \
            pi = pi + beta * (LOAD(p + i) - omega * LOAD(q + i));                                                      \
        }                                                                                                              \
        pi = STORE(p + i, pi);                                                                                         \
        if (inverse) {                                                                                                 \
            STORE(p_hat + i, pi * LOAD(inverse + i));                                                                  \
        }                                                                                                              \
    }
    EACH(BODY)
#undef BODY
}

/* BiCGStab: s = r - alpha q, s_hat = M s. s*s. */
KERNEL(half) {
    INPUT(q) INPUT(r) INPUT(inverse) VECTOR(s) VECTOR(s_hat) const double alpha = v->alpha;
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    const number si = STORE(s + i, LOAD(r + i) - alpha * LOAD(q + i));                                                 \
    if (inverse) {                                                                                                     \
        STORE(s_hat + i, si * LOAD(inverse + i));                                                                      \
    }                                                                                                                  \
    S0 += si * si;
    EACH(BODY)
#undef BODY
}

/* BiCGStab: t*s, t*t */
KERNEL(dots) {
    INPUT(s)
    INPUT(t)
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    const number ti = LOAD(t + i);                                                                                     \
    S0 += ti * LOAD(s + i);                                                                                            \
    S1 += ti * ti;
    EACH(BODY)
#undef BODY
}

/* BiCGStab: r = s - omega t. r*r, r_hat*r. */
KERNEL(step_stabilized) {
    INPUT(s) INPUT(t) INPUT(r_hat) VECTOR(r) const double omega = v->omega;
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    const number si = LOAD(s + i);                                                                                     \
    const number ri = STORE(r + i, omega != 0 ? si - omega * LOAD(t + i) : si);                                        \
    S0 += ri * ri;                                                                                                     \
    S1 += ri * LOAD(r_hat + i);
    EACH(BODY)
#undef BODY
}

/* (b - q)*(b - q) */
KERNEL(residual) {
    INPUT(b)
    INPUT(q)
#define BODY(number, LOAD, STORE, S0, S1, S2)                                                                          \
    const number ri = LOAD(b + i) - LOAD(q + i);                                                                       \
    S0 += ri * ri;
    EACH(BODY)
#undef BODY
}

/* x = alpha z */
KERNEL(scale) {
    INPUT(z) VECTOR(x) const double alpha = v->alpha;
#define BODY(number, LOAD, STORE, S0, S1, S2) STORE(x + i, alpha * LOAD(z + i));
    EACH(BODY)
#undef BODY
}

#undef EACH
#undef STORE_EIGHT
#undef KERNEL
#undef VECTOR
#undef INPUT
