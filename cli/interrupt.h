/* A run that is interrupted while it writes leaves no unfinished file behind. */
#ifndef LSP_CLI_INTERRUPT_H
#define LSP_CLI_INTERRUPT_H

/* From here to cli_guard_end, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU remove the file before they end the program.
 */
void cli_guard(const char *unfinished);

/* The same for the file that lsp_mtx_write(path) fills before it renames it. */
void cli_guard_output(const char *path);

void cli_guard_end(void);

#endif
