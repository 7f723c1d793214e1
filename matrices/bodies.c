/* The loops of all bodies of this room on the host. */
#include "bodies.h"
#include "each_host.h"

LSP_BODIES(LSP_ITEM_HOST, LSP_VALUE_HOST, LSP_ENTRY_HOST, LSP_KEEP_HOST)
