#include "fiber.h"

#include <mutex>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <vector>

#if LSP_EMULATE_ASAN
#include <sanitizer/common_interface_defs.h>
#else
static void __sanitizer_start_switch_fiber(void **, const void *, size_t) {}
static void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) {}
#endif

/* ---- stacks ---- */

static const uint64_t BOTTOM = 0x5AFE57AC4B077043u; /* the lowest word of a stack, as long as it is large enough */
static std::mutex stacks_mutex;
static std::vector<char *> stacks;

char *fiber_take_stack() {
    std::lock_guard<std::mutex> lock(stacks_mutex);
    if (!stacks.empty()) {
        char *stack = stacks.back();
        stacks.pop_back();
        return stack;
    }
    /* As much again lies below, so that who needs more is told and meets nobody else's memory on the way. */
    char *below = (char *)mmap(NULL, 2 * FIBER_STACK_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (below == MAP_FAILED) {
        abort();
    }
    char *stack = below + FIBER_STACK_BYTES;
    *(uint64_t *)stack = BOTTOM;
    return stack;
}
void fiber_give_stack(char *stack) {
    std::lock_guard<std::mutex> lock(stacks_mutex);
    stacks.push_back(stack);
}

/* ---- the switch ---- */

#if defined(__x86_64__) && !defined(LSP_EMULATE_UCONTEXT)
/* Registers that a callee keeps go to the stack that is left and come from the one that is entered. */
extern "C" void emu_switch(fiber_place *from, const fiber_place *to);
asm(R"(
.text
.hidden emu_switch
.globl emu_switch
.type emu_switch, @function
emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq (%rsi), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emu_switch, . - emu_switch
)");

static void prepare(fiber_place *place, char *stack, void (*entry)()) {
    void **sp = (void **)(stack + FIBER_STACK_BYTES);
    *--sp = NULL; /* the return address, as after a call */
    *--sp = (void *)entry;
    for (int saved = 0; saved < 6; saved++) {
        *--sp = NULL;
    }
    place->sp = sp;
}
#else
static void emu_switch(fiber_place *from, const fiber_place *to) { swapcontext(from, to); }

static void prepare(fiber_place *place, char *stack, void (*entry)()) {
    getcontext(place);
    place->uc_stack.ss_sp = stack + 64;
    place->uc_stack.ss_size = FIBER_STACK_BYTES - 64;
    place->uc_link = NULL;
    makecontext(place, entry, 0);
}
#endif

void fiber_prepare(fiber *f, char *stack, void (*entry)()) {
    f->stack = stack;
    f->fake_inside = NULL;
    prepare(&f->inside, stack, entry);
}

bool fiber_resume(fiber *f) {
    __sanitizer_start_switch_fiber(&f->fake_outside, f->stack, FIBER_STACK_BYTES);
    emu_switch(&f->outside, &f->inside);
    __sanitizer_finish_switch_fiber(f->fake_outside, NULL, NULL);
    return *(uint64_t *)f->stack == BOTTOM;
}

void fiber_begin(fiber *f) { __sanitizer_finish_switch_fiber(NULL, &f->stack_outside, &f->stack_outside_bytes); }

void fiber_suspend(fiber *f) {
    __sanitizer_start_switch_fiber(&f->fake_inside, f->stack_outside, f->stack_outside_bytes);
    emu_switch(&f->inside, &f->outside);
    __sanitizer_finish_switch_fiber(f->fake_inside, &f->stack_outside, &f->stack_outside_bytes);
}

void fiber_leave(fiber *f) {
    __sanitizer_start_switch_fiber(NULL, f->stack_outside, f->stack_outside_bytes);
    emu_switch(&f->inside, &f->outside);
}
