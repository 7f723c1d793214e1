/* Two-body statistics on a GPU: none of the verbs is there yet, and the top refuses them. */
#include "two_body/job.h"

const lsp_pair_device lsp_pair_cuda = {0};
