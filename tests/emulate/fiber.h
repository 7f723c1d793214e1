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

/* A stack for a fiber, kept for the next one when given back. */
char *fiber_take_stack();
void fiber_give_stack(char *stack);
/* False: its fiber has written beyond it. */
bool fiber_stack_holds(const char *stack);
/* Whoever goes to the place runs `entry` on the stack; it never returns. */
void fiber_prepare(fiber_place *place, char *stack, void (*entry)());
/* Goes on at `to`, until somebody goes to `from`. */
extern "C" void fiber_switch(fiber_place *from, const fiber_place *to);

#endif
