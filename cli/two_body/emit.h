/* two-body generate: writes a program for the pairs of points by the user's own distance or predicate. */
#ifndef LSP_CLI_TWO_BODY_EMIT_H
#define LSP_CLI_TWO_BODY_EMIT_H

/* Reads the words behind `generate`, argv[0] being that word. Returns the exit code. */
int tb_emit(int argc, char **argv);

#endif
