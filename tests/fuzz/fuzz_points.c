/* Fuzz target of the readers of points in two-body. No text may crash them; what they accept are finite points, and
 * what they refuse has a sentence. The first byte of the input chooses the format; the rest is the file. */
#include "points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void check_points(const tb_points *p) {
    require(p->n >= 0 && p->dimensions >= 1 && p->dimensions <= TB_MOST_DIMENSIONS, "sizes");
    for (int64_t i = 0; i < p->n * p->dimensions; i++) {
        require(isfinite(p->at[i]), "a coordinate is not finite");
    }
    for (int64_t i = 0; i < p->n && p->label; i++) {
        require(memchr(p->label[i].name, 0, TB_LABEL) && memchr(p->label[i].element, 0, TB_LABEL), "a name has no end");
    }
    for (int k = 0; k < p->dimensions && p->cell.periodic; k++) {
        require(p->cell.side[k] > 0 && isfinite(p->cell.side[k]), "a side of the box");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    tb_points points;
    char error[CLI_SENTENCE] = "";
    char *text = bytes > 0 ? malloc(bytes) : NULL; /* without the first byte, with a zero at the end */
    if (!text) {
        return 0;
    }
    memcpy(text, data + 1, bytes - 1);
    text[bytes - 1] = 0;
    if (tb_parse((tb_format)(data[0] % (TB_NPY + 1)), "fuzz", text, bytes - 1, &points, error) == 0) {
        check_points(&points);
    } else {
        require(strncmp(error, "fuzz:", 5) == 0 && memchr(error, 0, CLI_SENTENCE), "no sentence");
    }
    tb_points_free(&points);
    free(text);
    return 0;
}
