/* An interrupted run leaves no unfinished file behind. */
#pragma once

/* Until cli_guard_end, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU remove this file before they end the program. */
void cli_guard(const char *unfinished);

/* The same for the unfinished file that lsp_mtx_write(path) fills and then renames to `path`. */
void cli_guard_output(const char *path);

void cli_guard_end(void);
