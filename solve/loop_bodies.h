/* What the loops of an iteration do to number i of the vectors, on both devices; on a CPU to as many as a register
 * holds. Each says which sums it leaves. Who includes this has defined
 *     LSP_LOOP_BODY(name)        the head of a function of v, a lsp_solve_loop
 *     NUMBER                     a number in f64, or several of them
 *     LOAD(name), STORE(name, x) the vector v->name; STORE is x as it was rounded
 *     PLUS(c, a, b)              c + a * b, as the device rounds it
 *     SUM(k, a, b)               adds a * b to sum k */

#pragma GCC diagnostic ignored "-Wunused-parameter" /* not every loop has sums, or stores */

/* M x, where the preconditioner is a factor. */
#define PRECONDITIONED(x) (v->inverse ? LOAD(inverse) * (x) : (x))

/* r = b - q, or b; x = 0 unless it holds a guess, then q = A x. r*r, r*(M r), b*b. */
LSP_LOOP_BODY(start) {
    const NUMBER b = LOAD(b), r = STORE(r, v->q ? b - LOAD(q) : b);
    if (!v->q) {
        STORE(x, (NUMBER){0});
    }
    if (v->r_hat) {
        STORE(r_hat, r);
    }
    SUM(0, r, r);
    SUM(1, r, PRECONDITIONED(r));
    SUM(2, b, b);
}

/* p*q */
LSP_LOOP_BODY(dot) { SUM(0, LOAD(p), LOAD(q)); }

/* Conjugate gradients: r -= alpha q. r*r, r*(M r). */
LSP_LOOP_BODY(step) {
    const NUMBER r = STORE(r, PLUS(LOAD(r), -v->alpha, LOAD(q)));
    SUM(0, r, r);
    SUM(1, r, PRECONDITIONED(r));
}

/* Conjugate gradients: x += alpha p if it is due, then p = M r + beta p unless the solver has ended. */
LSP_LOOP_BODY(turn) {
    const NUMBER p = LOAD(p);
    if (v->due) {
        STORE(x, PLUS(LOAD(x), v->alpha, p));
    }
    if (v->runs) {
        const NUMBER z = PRECONDITIONED(LOAD(z));
        STORE(p, v->beta != 0 ? PLUS(z, v->beta, p) : z);
    }
}

/* BiCGStab: x += alpha p_hat + omega s_hat if it is due, then p = r + beta (p - omega q) and p_hat = M p unless the
 * solver has ended. */
LSP_LOOP_BODY(turn_stabilized) {
    NUMBER p = LOAD(p), p_hat = p;
    if (v->p_hat != v->p) {
        p_hat = LOAD(p_hat);
    }
    if (v->due) {
        NUMBER x = PLUS(LOAD(x), v->alpha, p_hat);
        if (v->omega != 0) {
            x = PLUS(x, v->omega, LOAD(s_hat));
        }
        STORE(x, x);
    }
    if (v->runs) {
        NUMBER next = LOAD(r);
        if (v->beta != 0) {
            next = PLUS(next, v->beta, PLUS(p, -v->omega, LOAD(q)));
        }
        next = STORE(p, next);
        if (v->inverse) {
            STORE(p_hat, PRECONDITIONED(next));
        }
    }
}

/* BiCGStab: s = r - alpha q, s_hat = M s. s*s. */
LSP_LOOP_BODY(half) {
    const NUMBER s = STORE(s, PLUS(LOAD(r), -v->alpha, LOAD(q)));
    if (v->inverse) {
        STORE(s_hat, PRECONDITIONED(s));
    }
    SUM(0, s, s);
}

/* BiCGStab: t*s, t*t. */
LSP_LOOP_BODY(dots) {
    const NUMBER t = LOAD(t);
    SUM(0, t, LOAD(s));
    SUM(1, t, t);
}

/* BiCGStab: r = s - omega t. r*r, r_hat*r. */
LSP_LOOP_BODY(step_stabilized) {
    const NUMBER s = LOAD(s), r = STORE(r, v->omega != 0 ? PLUS(s, -v->omega, LOAD(t)) : s);
    SUM(0, r, r);
    SUM(1, r, LOAD(r_hat));
}

/* |b - q|^2 */
LSP_LOOP_BODY(residual) {
    const NUMBER r = LOAD(b) - LOAD(q);
    SUM(0, r, r);
}

/* x = alpha z */
LSP_LOOP_BODY(scale) { STORE(x, v->alpha * LOAD(z)); }

#undef PRECONDITIONED
#undef LSP_LOOP_BODY
#undef NUMBER
#undef LOAD
#undef STORE
