/* Fibers: functions with a stack of their own that can be suspended and resumed anywhere, on one OS thread. */
#pragma once

#include <stddef.h>

#if defined(__x86_64__) && !defined(LSP_EMULATE_UCONTEXT)
typedef struct fiber_place {
    void *sp;
} fiber_place;
#else
#include <ucontext.h>
typedef ucontext_t fiber_place;
#endif

enum { FIBER_STACK_BYTES = 256 << 10 }; /* the system provides pages when they are touched */

/* Takes a stack for a fiber. A stack that is given back is kept for the next fiber. */
char *fiber_take_stack();
void fiber_give_stack(char *stack);
/* False if the fiber wrote below the end of its stack. */
bool fiber_stack_holds(const char *stack);
/* The first switch to `place` runs `entry` on the stack. `entry` must never return. */
void fiber_prepare(fiber_place *place, char *stack, void (*entry)());
/* Suspends the running fiber into `from` and resumes `to`. */
extern "C" void fiber_switch(fiber_place *from, const fiber_place *to);
