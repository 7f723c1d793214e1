/* The loops of the bodies of this room on the host. */
#include "bodies.h"
#include "core/each_host.h"

LSP_GATHER_BODIES(LSP_ITEM_HOST)
