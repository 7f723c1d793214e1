/* The loops of all bodies of this room on the host. */
#include "bodies.h"
#include "core/each_host.h"

LSP_SUFFIX_BODIES(LSP_ITEM_HOST)
