/* A fiber: a function with a stack of its own that is left and entered again at will, always on one OS thread. */
#ifndef LSP_EMULATE_FIBER_H
#define LSP_EMULATE_FIBER_H

#include <stddef.h>

#if defined(__x86_64__) && !defined(LSP_EMULATE_UCONTEXT)
typedef struct fiber_place {
    void *sp;
} fiber_place;
#else
#include <ucontext.h>
typedef ucontext_t fiber_place;
#endif

enum { FIBER_STACK_BYTES = 256 << 10 }; /* of which pages are taken as they are touched */

typedef struct fiber {
    fiber_place inside, outside; /* where the fiber goes on, and whoever resumed it */
    char *stack;
    void *fake_inside, *fake_outside; /* the address sanitizer's */
    const void *stack_outside;
    size_t stack_outside_bytes;
} fiber;

/* A stack for a fiber, kept for the next one when given back. */
char *fiber_take_stack();
void fiber_give_stack(char *stack);
/* `entry` will run on the stack; it ends with fiber_leave and never returns. */
void fiber_prepare(fiber *f, char *stack, void (*entry)());
/* Enters f until it suspends itself or leaves. False: it has written beyond its stack. */
bool fiber_resume(fiber *f);
void fiber_suspend(fiber *f);
/* The first call in `entry`, and the last. */
void fiber_begin(fiber *f);
void fiber_leave(fiber *f);

#endif
