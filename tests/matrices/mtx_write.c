/* Writing Matrix Market: a file reads back to the same bits, and it appears complete or not at all. */
#include "mtx_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number of files in the folder. */
static int count_files(void) {
    int count = 0;
    DIR *directory = opendir(folder);
    cr_assert(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory));) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(directory);
    return count;
}

static void content_is(const char *path, const char *want) {
    char got[4096] = "";
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL, "%s", path);
    got[fread(got, 1, sizeof got - 1, file)] = 0;
    fclose(file);
    cr_assert(strcmp(got, want) == 0, "%s: '%s', not '%s'", path, got, want);
}

static lsp_csr small(void) {
    static int32_t rowptr[] = {0, 2, 2, 4}, col[] = {0, 2, 1, 0};
    static double val[] = {4, -1, 0.1, 1e-300};
    return (lsp_csr){3, 3, 4, rowptr, col, val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
}
#define SMALL "3 3 4\n1 1 4\n1 3 -1\n3 2 0.1\n3 1 1e-300\n"
#define BANNER "%%MatrixMarket matrix coordinate real general\n"

Test(mtx_write, the_text_is_as_specified, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = small();
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &A, NULL));
    content_is(in_folder("a"), BANNER SMALL);
    lsp_mtx_write_options options = {.comment = "one\ntwo\r\n\nfour"};
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &A, &options)); /* replaces */
    content_is(in_folder("a"), BANNER "% one\n% two\n%\n% four\n" SMALL);
    A.val_type = LSP_NONE;
    A.val = NULL;
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &A, NULL));
    content_is(in_folder("a"), "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n1 3\n3 2\n3 1\n");
    double complex[] = {1, 2, 0, -1, 0.5, INFINITY, -0.0, 3};
    A.val_type = LSP_C64;
    A.val = complex;
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &A, NULL));
    content_is(in_folder("a"),
               "%%MatrixMarket matrix coordinate complex general\n3 3 4\n1 1 1 2\n1 3 0 -1\n3 2 0.5 inf\n"
               "3 1 -0 3\n");
    int32_t none[] = {0};
    lsp_csr empty = {0, 5, 0, none, NULL, NULL, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &empty, NULL));
    content_is(in_folder("a"), BANNER "0 5 0\n");
    int64_t wide_rowptr[] = {0, 1}, wide_col[] = {INT64_MAX - 1};
    lsp_csr wide = {1, INT64_MAX, 1, wide_rowptr, wide_col, NULL, LSP_I64, LSP_I64, LSP_NONE, LSP_HOST};
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &wide, NULL));
    content_is(in_folder("a"), "%%MatrixMarket matrix coordinate pattern general\n1 9223372036854775807 1\n"
                               "1 9223372036854775807\n");
    cr_assert(count_files() == 1);
    lsp_ctx_destroy(ctx);
}

/* A random matrix of a type, with numbers of every kind. */
static lsp_csr random_matrix(lsp_ctx *ctx, lsp_type index, lsp_type type, int64_t rows, uint64_t *state) {
    lsp_csr A;
    int64_t cols = 1 + test_below(state, 5000), nnz = 0;
    int64_t *counts = calloc((size_t)rows + 1, sizeof *counts);
    for (int64_t i = 0; i < rows; i++) {
        counts[i] = test_below(state, i % 100 == 50 ? cols : 12) % (cols + 1);
        nnz += counts[i];
    }
    must(ctx, lsp_csr_create(ctx, rows, cols, nnz, &(lsp_csr_types){index, index, type, false, LSP_PLACE_HOST}, &A));
    int64_t k = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t step = counts[i] ? cols / counts[i] : 1;
        for (int64_t j = 0; j < counts[i]; j++, k++) {
            int64_t col = j * step + test_below(state, step);
            if (index == LSP_I32) {
                ((int32_t *)A.col)[k] = (int32_t)col;
            } else {
                ((int64_t *)A.col)[k] = col;
            }
            for (int part = 0; part < (type == LSP_C64 ? 2 : type == LSP_NONE ? 0 : 1); part++) {
                uint64_t bits = test_random(state);
                double value;
                float small;
                if (bits % 4 < 2) {
                    bits = (bits & 0x800fffffffffffff) | (uint64_t)(1013 + test_below(state, 20)) << 52;
                }
                memcpy(&value, &bits, 8);
                memcpy(&small, &bits, 4);
                value = bits % 5 == 4 ? (double)(int32_t)bits : value == value ? value : (double)NAN;
                small = small == small ? small : NAN;
                if (type == LSP_F32) {
                    ((float *)A.val)[k] = small;
                } else {
                    ((double *)A.val)[type == LSP_C64 ? 2 * k + part : k] = value;
                }
            }
        }
        if (index == LSP_I32) {
            ((int32_t *)A.rowptr)[i + 1] = (int32_t)k;
        } else {
            ((int64_t *)A.rowptr)[i + 1] = k;
        }
    }
    free(counts);
    return A;
}

Test(mtx_write, what_is_written_reads_back_to_the_same_bits, .fini = remove_folder) {
    static const lsp_type types[] = {LSP_F64, LSP_F32, LSP_NONE, LSP_C64};
    uint64_t state = 11;
    for (int trial = 0; trial < 40; trial++) {
        lsp_type type = types[trial % 4], index = trial % 8 < 4 ? LSP_I32 : LSP_I64;
        lsp_ctx *ctx = test_ctx(1 + trial % 3);
        lsp_csr A = random_matrix(ctx, index, type, test_below(&state, trial < 20 ? 50 : 3000), &state), B;
        const char *path = in_folder(trial % 5 == 4 ? "m.mtx.gz" : "m.mtx");
        lsp_mtx_read_options options = {.types = {index, index, type, false, LSP_PLACE_HOST}};
        lsp_csr_difference difference;
        lsp_mtx_info info;
        must(ctx, lsp_mtx_write(ctx, path, &A, NULL));
        must(ctx, lsp_mtx_read(ctx, path, &options, &B, &info));
        cr_assert(info.compressed == (trial % 5 == 4) && info.entries == A.nnz && info.duplicates == 0);
        must(ctx, lsp_csr_compare(ctx, &A, &B, &difference));
        cr_assert(difference.same_bits, "trial %d: %d, %d: %g", trial, (int)difference.row, (int)difference.col,
                  difference.max_rel);
        lsp_ctx_destroy(ctx);
    }
}

Test(mtx_write, the_same_bytes_whatever_the_threads, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    must(ctx, lsp_generate(ctx, "er:20000:8", 1, NULL, &A));
    must(ctx, lsp_mtx_write(ctx, in_folder("one"), &A, NULL));
    for (int threads = 2; threads < 6; threads++) {
        char command[300];
        lsp_ctx *other = test_ctx(threads);
        must(other, lsp_mtx_write(other, in_folder("more"), &A, NULL));
        lsp_ctx_destroy(other);
        snprintf(command, sizeof command, "cmp '%s' '%s'", in_folder("one"), in_folder("more"));
        cr_assert(system(command) == 0);
    }
    lsp_ctx_destroy(ctx);
}

Test(mtx_write, symmetric_matrices_are_checked_and_halved, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A, B;
    lsp_csr_difference difference;
    lsp_mtx_write_options symmetric = {.symmetry = LSP_SYMMETRY_SYMMETRIC}, skew = {.symmetry = LSP_SYMMETRY_SKEW},
                          hermitian = {.symmetry = LSP_SYMMETRY_HERMITIAN};
    must(ctx, lsp_generate(ctx, "poisson2d:60", 1, NULL, &A));
    must(ctx, lsp_mtx_write(ctx, in_folder("s"), &A, &symmetric));
    lsp_mtx_info info;
    must(ctx, lsp_mtx_read(ctx, in_folder("s"), NULL, &B, &info));
    cr_assert(info.symmetry == LSP_SYMMETRY_SYMMETRIC && info.entries == (A.nnz + A.rows) / 2);
    must(ctx, lsp_csr_compare(ctx, &A, &B, &difference));
    cr_assert(difference.same_bits);

    static const struct {
        const char *file;
        lsp_symmetry symmetry;
    } files[] = {{"skew.mtx", LSP_SYMMETRY_SKEW},
                 {"hermitian.mtx", LSP_SYMMETRY_HERMITIAN},
                 {"symmetric.mtx", LSP_SYMMETRY_SYMMETRIC}};
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/matrices/data/%s", LSP_SOURCE_DIR, files[i].file);
        must(ctx, lsp_mtx_read(ctx, path, NULL, &A, NULL));
        must(ctx, lsp_mtx_write(ctx, in_folder("s"), &A, &(lsp_mtx_write_options){.symmetry = files[i].symmetry}));
        must(ctx, lsp_mtx_read(ctx, in_folder("s"), NULL, &B, &info));
        must(ctx, lsp_csr_compare(ctx, &A, &B, &difference));
        cr_assert(difference.same_bits && info.symmetry == files[i].symmetry, "%s", files[i].file);
    }
    int before = count_files();
    A = small();
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 1, column 3", lsp_mtx_write(ctx, in_folder("t"), &A, &symmetric));
    int32_t rowptr[] = {0, 2, 4}, col[] = {1, 0, 0, 1}, wide[] = {0, 0};
    double val[] = {2, 1, 3, 5}, pair[] = {2, 1, 1, 0, 2, 1, 5, 1};
    lsp_csr S = {2, 2, 4, rowptr, col, val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 1, column 2", lsp_mtx_write(ctx, in_folder("t"), &S, &symmetric));
    val[2] = 2;
    must(ctx, lsp_mtx_write(ctx, in_folder("s"), &S, &symmetric)); /* rows need not be sorted */
    content_is(in_folder("s"), "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 5\n");
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 1, column 1", lsp_mtx_write(ctx, in_folder("t"), &S, &skew));
    must_fail(ctx, LSP_ERR_ARGUMENT, "complex", lsp_mtx_write(ctx, in_folder("t"), &S, &hermitian));
    val[1] = val[3] = 0;
    val[2] = -2;
    must(ctx, lsp_mtx_write(ctx, in_folder("s"), &S, &skew));
    content_is(in_folder("s"), "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 3\n1 1 0\n2 1 -2\n2 2 0\n");
    S.val = pair;
    S.val_type = LSP_C64;
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 1, column 2", lsp_mtx_write(ctx, in_folder("t"), &S, &hermitian));
    pair[5] = -1;
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 2, column 2", lsp_mtx_write(ctx, in_folder("t"), &S, &hermitian));
    S.val = NULL;
    S.val_type = LSP_NONE;
    must(ctx, lsp_mtx_write(ctx, in_folder("s"), &S, &symmetric));
    must_fail(ctx, LSP_ERR_ARGUMENT, "skew", lsp_mtx_write(ctx, in_folder("t"), &S, &skew));
    S = (lsp_csr){1, 2, 0, wide, NULL, NULL, LSP_I32, LSP_I32, LSP_NONE, LSP_HOST};
    must_fail(ctx, LSP_ERR_ARGUMENT, "1 rows and 2 columns", lsp_mtx_write(ctx, in_folder("t"), &S, &symmetric));
    must_fail(ctx, LSP_ERR_ARGUMENT, "symmetry",
              lsp_mtx_write(ctx, in_folder("t"), &S, &(lsp_mtx_write_options){.symmetry = (lsp_symmetry)9}));
    cr_assert(count_files() == before, "something was left behind");
    lsp_ctx_destroy(ctx);
}

Test(mtx_write, integers_are_written_as_such_and_what_is_none_is_refused, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(2);
    const lsp_mtx_write_options integers = {.field = LSP_MTX_INTEGER};
    int32_t rowptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    double val[] = {1, -0x1.fffffffffffffp52, 0, 7};
    float narrow[] = {1, -16777215, 0, 7};
    lsp_csr A = {2, 2, 4, rowptr, col, val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST}, F = A, B;
    lsp_mtx_info info;
    F.val = narrow, F.val_type = LSP_F32;
    must(ctx, lsp_mtx_write(ctx, in_folder("i"), &A, &integers));
    content_is(in_folder("i"), "%%MatrixMarket matrix coordinate integer general\n2 2 4\n"
                               "1 1 1\n1 2 -9007199254740991\n2 1 0\n2 2 7\n");
    must(ctx, lsp_mtx_read(ctx, in_folder("i"), NULL, &B, &info));
    cr_assert(info.field == LSP_MTX_INTEGER && memcmp(B.val, val, sizeof val) == 0);
    must(ctx, lsp_mtx_write(ctx, in_folder("i"), &F, &integers));
    content_is(in_folder("i"),
               "%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 1\n1 2 -16777215\n2 1 0\n2 2 7\n");
    const int before = count_files();
    const double others[] = {0.5, -0x1p53, 1e300, INFINITY, NAN, 1 + 0x1p-52};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        val[2] = others[i];
        must_fail(ctx, LSP_ERR_ARGUMENT, "the entry at row 2, column 1 is ",
                  lsp_mtx_write(ctx, in_folder("never"), &A, &integers));
    }
    must(ctx, lsp_mtx_write(ctx, in_folder("i"), &A, &(lsp_mtx_write_options){.field = LSP_MTX_REAL}));
    narrow[3] = 0x1p24f;
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 2, column 2 is 16777216",
              lsp_mtx_write(ctx, in_folder("never"), &F, &integers));
    A.val_type = LSP_NONE, A.val = NULL;
    must_fail(ctx, LSP_ERR_ARGUMENT, "a pattern cannot", lsp_mtx_write(ctx, in_folder("never"), &A, &integers));
    must_fail(ctx, LSP_ERR_ARGUMENT, "is 2",
              lsp_mtx_write(ctx, in_folder("never"), &A, &(lsp_mtx_write_options){.field = LSP_MTX_PATTERN}));
    cr_assert(count_files() == before, "something was left behind");
    lsp_ctx_destroy(ctx);
}

Test(mtx_write, a_file_appears_complete_or_not_at_all, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = small(), large;
    struct stat about;
    umask(027);
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &A, NULL));
    cr_assert(stat(in_folder("a"), &about) == 0 && (about.st_mode & 0777) == 0640, "%o", about.st_mode);
    cr_assert(chmod(in_folder("a"), 0604) == 0); /* a file that is replaced keeps its rights */
    must(ctx, lsp_mtx_write(ctx, in_folder("a"), &A, NULL));
    cr_assert(stat(in_folder("a"), &about) == 0 && (about.st_mode & 0777) == 0604, "%o", about.st_mode);

    cr_assert(symlink("a", in_folder("link")) == 0 && symlink("later", in_folder("dangling")) == 0);
    A.val_type = LSP_NONE;
    A.val = NULL;
    must(ctx, lsp_mtx_write(ctx, in_folder("link"), &A, NULL)); /* the link stays, its target is replaced */
    cr_assert(lstat(in_folder("link"), &about) == 0 && S_ISLNK(about.st_mode));
    content_is(in_folder("a"), "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n1 3\n3 2\n3 1\n");
    must(ctx, lsp_mtx_write(ctx, in_folder("dangling"), &A, NULL));
    cr_assert(lstat(in_folder("later"), &about) == 0 && S_ISREG(about.st_mode));
    cr_assert(symlink("loop", in_folder("loop")) == 0);
    must_fail(ctx, LSP_ERR_IO, "cannot be written", lsp_mtx_write(ctx, in_folder("loop"), &A, NULL));

    int before = count_files();
    must_fail(ctx, LSP_ERR_IO, "Is a directory", lsp_mtx_write(ctx, in_folder("."), &A, NULL));
    must_fail(ctx, LSP_ERR_IO, "No such file", lsp_mtx_write(ctx, in_folder("none/a"), &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "empty", lsp_mtx_write(ctx, "", &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_mtx_write(ctx, NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "", lsp_mtx_write(ctx, in_folder("b"), NULL, NULL));
    cr_assert(lsp_mtx_write(NULL, "x", &A, NULL) == LSP_ERR_ARGUMENT);
    int32_t outside[] = {0, 2, 1, 7};
    A.col = outside;
    must_fail(ctx, LSP_ERR_FORMAT, "", lsp_mtx_write(ctx, in_folder("b"), &A, NULL));
    if (access("/dev/full", W_OK) == 0) {
        A = small();
        must_fail(ctx, LSP_ERR_IO, "No space left", lsp_mtx_write(ctx, "/dev/full", &A, NULL));
    }
    /* the disk becomes full during the call */
    must(ctx, lsp_generate(ctx, "er:20000:8", 1, NULL, &large));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    lsp_status plain = lsp_mtx_write(ctx, in_folder("a"), &large, NULL);
    lsp_status packed = lsp_mtx_write(ctx, in_folder("new.gz"), &large, NULL);
    limit.rlim_cur = RLIM_INFINITY;
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    cr_assert(plain == LSP_ERR_IO && packed == LSP_ERR_IO);
    content_is(in_folder("a"), "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n1 3\n3 2\n3 1\n");
    cr_assert(count_files() == before, "something was left behind");
    lsp_ctx_destroy(ctx);
}

Test(mtx_write, standard_output_and_pipes_are_written, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = small();
    int kept = dup(1), fd = open(in_folder("out"), O_WRONLY | O_CREAT, 0600);
    cr_assert(kept >= 0 && fd >= 0 && dup2(fd, 1) == 1);
    lsp_status status = lsp_mtx_write(ctx, "-", &A, NULL);
    cr_assert(dup2(kept, 1) == 1);
    must(ctx, status);
    content_is(in_folder("out"), BANNER SMALL);
    cr_assert(mkfifo(in_folder("pipe"), 0600) == 0);
    int reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK);
    must(ctx, lsp_mtx_write(ctx, in_folder("pipe"), &A, NULL));
    char got[256] = "";
    cr_assert(read(reader, got, sizeof got - 1) == (ssize_t)strlen(BANNER SMALL) && strcmp(got, BANNER SMALL) == 0);
    close(reader);
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    char path[64];
    cr_assert(pipe(ends) == 0 && close(ends[0]) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    must_fail(ctx, LSP_ERR_IO, "Broken pipe", lsp_mtx_write(ctx, path, &A, NULL));
    lsp_ctx_destroy(ctx);
}

static lsp_status write_for_memory(lsp_ctx *ctx, void *data) {
    lsp_csr A = small();
    int32_t rowptr[] = {0, 2, 4}, col[] = {1, 0, 0, 1};
    double val[] = {2, 1, 2, 5};
    lsp_csr S = {2, 2, 4, rowptr, col, val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    lsp_mtx_write_options symmetric = {.symmetry = LSP_SYMMETRY_SYMMETRIC};
    bool packed = strstr(data, ".gz") != NULL;
    lsp_status status = lsp_mtx_write(ctx, data, packed ? &A : &S, packed ? NULL : &symmetric);
    cr_assert((access(data, F_OK) == 0) == (status == LSP_OK));
    return status;
}

Test(mtx_write, failing_memory_leaves_nothing_behind, .fini = remove_folder) {
    test_failing_memory(2, write_for_memory, (void *)(uintptr_t)in_folder("a.mtx"));
    test_failing_memory(2, write_for_memory, (void *)(uintptr_t)in_folder("a.mtx.gz"));
    cr_assert(count_files() == 2);
}

Test(mtx_write, real_matrices_come_back, .fini = remove_folder) {
    DIR *directory = opendir(TEST_REAL_MATRICES);
    if (!directory) {
        cr_skip_test("no real matrices at %s", TEST_REAL_MATRICES);
    }
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[4096];
        lsp_ctx *ctx = test_ctx(2);
        lsp_csr A, B;
        lsp_mtx_info info;
        lsp_csr_difference difference;
        snprintf(path, sizeof path, "%s/%s", TEST_REAL_MATRICES, entry->d_name);
        if (strstr(entry->d_name, ".mtx")) {
            must(ctx, lsp_mtx_read(ctx, path, NULL, &A, &info));
            for (int way = 0; way < 2; way++) {
                lsp_mtx_write_options options = {.symmetry = way ? info.symmetry : LSP_SYMMETRY_GENERAL,
                                                 .comment = path};
                must(ctx, lsp_mtx_write(ctx, in_folder("real.mtx"), &A, &options));
                must(ctx, lsp_mtx_read(ctx, in_folder("real.mtx"), NULL, &B, NULL));
                must(ctx, lsp_csr_compare(ctx, &A, &B, &difference));
                cr_assert(difference.same_pattern && difference.max_rel == 0 && (way || difference.same_bits), "%s",
                          path);
            }
            count++;
        }
        lsp_ctx_destroy(ctx);
    }
    closedir(directory);
    cr_assert(count > 0);
}
