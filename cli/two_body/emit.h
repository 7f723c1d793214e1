/* two-body generate: writes a program for the pairs of points by the user's own distance or predicate. */
#pragma once

/* Reads the words behind `generate`, argv[0] being that word. Returns the exit code. */
int tb_emit(int argc, char **argv);
