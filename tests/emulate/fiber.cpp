#include "fiber.h"

#include <mutex>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <vector>

/* ---- stacks ---- */

static const uint64_t BOTTOM = 0x5AFE57AC4B077043u; /* in the lowest word of a stack until the stack overflows */
static std::mutex stacks_mutex;
static std::vector<char *> stacks;

char *fiber_take_stack() {
    std::lock_guard<std::mutex> lock(stacks_mutex);
    if (!stacks.empty()) {
        char *stack = stacks.back();
        stacks.pop_back();
        return stack;
    }
    /* The mapping is twice as large: a fiber that overflows its stack finds its own memory below, and is reported.
     * Stacks begin at different distances from a page, because their ends would otherwise share a few cache lines. */
    enum { VARIOUS = 1 << 17 };
    static size_t taken;
    char *below = (char *)mmap(NULL, 2 * FIBER_STACK_BYTES + VARIOUS, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (below == MAP_FAILED) {
        abort();
    }
    char *stack = below + FIBER_STACK_BYTES + taken++ * 33 * 64 % VARIOUS;
    *(uint64_t *)stack = BOTTOM;
    return stack;
}
void fiber_give_stack(char *stack) {
    std::lock_guard<std::mutex> lock(stacks_mutex);
    stacks.push_back(stack);
}
bool fiber_stack_holds(const char *stack) { return *(const uint64_t *)stack == BOTTOM; }

/* ---- the switch ---- */

#if defined(__x86_64__) && !defined(LSP_EMULATE_UCONTEXT)
/* Saves the callee-saved registers on the stack that is left and loads those of the stack that is entered. */
asm(R"(
.text
.hidden fiber_switch
.globl fiber_switch
.type fiber_switch, @function
fiber_switch:
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
.size fiber_switch, . - fiber_switch
)");

void fiber_prepare(fiber_place *place, char *stack, void (*entry)()) {
    void **sp = (void **)(stack + FIBER_STACK_BYTES);
    *--sp = NULL; /* the return address, as after a call */
    *--sp = (void *)entry;
    for (int saved = 0; saved < 6; saved++) {
        *--sp = NULL;
    }
    place->sp = sp;
}
#else
void fiber_switch(fiber_place *from, const fiber_place *to) { swapcontext(from, to); }

void fiber_prepare(fiber_place *place, char *stack, void (*entry)()) {
    getcontext(place);
    place->uc_stack.ss_sp = stack + 64;
    place->uc_stack.ss_size = FIBER_STACK_BYTES - 64;
    place->uc_link = NULL;
    makecontext(place, entry, 0);
}
#endif
