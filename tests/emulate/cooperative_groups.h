/* Replaces CUDA's header of this name: the barrier of the grid. */
#ifndef LSP_EMULATE_COOPERATIVE_GROUPS_H
#define LSP_EMULATE_COOPERATIVE_GROUPS_H

#include "emulate.h"

namespace cooperative_groups {
struct grid_group {
    void sync() const { emu_grid_barrier(); }
};
static inline grid_group this_grid() { return {}; }
} // namespace cooperative_groups

#endif
