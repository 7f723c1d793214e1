/* Reads points from the text of a file, by the reader of its format. No text may crash one. */
#include "reader.h"

int tb_parse(tb_format format, const char *name, const char *text, size_t bytes, tb_points *points,
             char error[CLI_SENTENCE]) {
    static int (*const read[])(tb_reader *) = {tb_read_xyz, tb_read_gro, tb_read_pdb, tb_read_csv, tb_read_npy};
    tb_reader r = {.lines = {.name = name, .next = text, .end = text + bytes, .error = error}, .points = points};
    *points = (tb_points){0};
    return read[format](&r);
}
