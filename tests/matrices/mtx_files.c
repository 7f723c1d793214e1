/* Reading Matrix Market from files, pipes and gzip: unreadable files, files that change while they are read, and
 * failing memory. */
#include "mtx_folder.h"
#include "mtx_texts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static lsp_status read_for_memory(lsp_ctx *ctx, void *data) {
    lsp_csr A, before;
    memset(&A, 0x5a, sizeof A);
    before = A;
    lsp_status status = lsp_mtx_read(ctx, data, NULL, &A, NULL);
    cr_assert(status == LSP_OK || memcmp(&A, &before, sizeof A) == 0);
    if (status == LSP_OK) {
        lsp_csr_free(ctx, &A);
    }
    return status;
}
static lsp_status read_memory_for_memory(lsp_ctx *ctx, void *data) {
    lsp_csr A, before;
    memset(&A, 0x5a, sizeof A);
    before = A;
    lsp_status status = read_text(ctx, data, &(lsp_mtx_read_options){.types.val_type = LSP_F32}, &A, NULL);
    cr_assert(status == LSP_OK || memcmp(&A, &before, sizeof A) == 0);
    return status;
}

static void write_file(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}
static size_t pack(const void *bytes, size_t count, unsigned char *packed, size_t capacity) {
    z_stream stream = {0};
    cr_assert(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = packed;
    stream.avail_out = (uInt)capacity;
    cr_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&stream);
    return capacity - stream.avail_out;
}

Test(mtx_files, failing_memory_leaves_nothing_behind, .fini = remove_folder) {
    /* duplicates, unsorted rows, a symmetric file, gzip: every path that allocates */
    const char *text = SYMMETRIC "3 3 5\n3 1 5\n1 1 1\n3 2 6\n3 1 4\n2 1 1\n";
    unsigned char packed[512];
    size_t count = pack(text, strlen(text), packed, sizeof packed);
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("a.mtx"));
    write_file(path, packed, count);
    test_failing_memory(2, read_for_memory, path);
    write_file(path, text, strlen(text));
    test_failing_memory(2, read_for_memory, path);
    test_failing_memory(2, read_memory_for_memory,
                        "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 1\n");
}

/* ---- files ---- */

Test(mtx_files, gzip_is_known_by_content, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    lsp_mtx_info info;
    const char *text = REAL "2 2 2\n1 1 1\n2 2 2.5\n";
    unsigned char packed[4096];
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("plain.name"));
    size_t half = 60, length = strlen(text), first = pack(text, half, packed, sizeof packed);
    size_t all = first + pack(text + half, length - half, packed + first, sizeof packed - first); /* two members */
    memset(packed + all, 0, 100);
    for (size_t zeros = 0; zeros < 101; zeros += 50) {
        write_file(path, packed, all + zeros);
        must(ctx, lsp_mtx_read(ctx, path, NULL, &A, &info));
        cr_assert(A.nnz == 2 && info.compressed && info.bytes == (int64_t)length);
        lsp_csr_free(ctx, &A);
    }
    must(ctx, lsp_mtx_read_memory(ctx, packed, all, "m", NULL, &A, NULL));
    cr_assert(A.nnz == 2);
    for (size_t cut = 2; cut < all; cut++) {
        lsp_status status = lsp_mtx_read_memory(ctx, packed, cut, "m", NULL, &A, NULL);
        cr_assert(status == LSP_ERR_FORMAT, "cut at %zu: %s", cut, lsp_status_name(status));
    }
    must_fail(ctx, LSP_ERR_FORMAT, "m:5: the gzip data ends too early",
              lsp_mtx_read_memory(ctx, packed, all - 1, "m", NULL, &A, NULL));
    packed[all] = 'x';
    must_fail(ctx, LSP_ERR_FORMAT, "not gzip", lsp_mtx_read_memory(ctx, packed, all + 1, "m", NULL, &A, NULL));
    packed[all - 6] ^= 1; /* the checksum */
    must_fail(ctx, LSP_ERR_FORMAT, "damaged", lsp_mtx_read_memory(ctx, packed, all, "m", NULL, &A, NULL));
    char magic[] = "\x1f\x8b";
    must_fail(ctx, LSP_ERR_FORMAT, "", lsp_mtx_read_memory(ctx, magic, 2, "m", NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "", lsp_mtx_read_memory(ctx, magic, 1, "m", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
}

Test(mtx_files, a_decompression_bomb_meets_the_budget) {
    enum { bytes = 32 << 20 };
    char *blanks = malloc(bytes);
    memset(blanks, '\n', bytes);
    memcpy(blanks, REAL, strlen(REAL));
    unsigned char *packed = malloc(1 << 20);
    size_t count = pack(blanks, bytes, packed, 1 << 20);
    lsp_ctx *ctx = test_ctx(1);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 8 << 20));
    lsp_csr A;
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_mtx_read_memory(ctx, packed, count, "bomb", NULL, &A, NULL));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must_fail(ctx, LSP_ERR_FORMAT, "size line", lsp_mtx_read_memory(ctx, packed, count, "bomb", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
    free(packed);
    free(blanks);
}

Test(mtx_files, files_that_cannot_be_read_are_told_apart, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    must_fail(ctx, LSP_ERR_IO, "No such file", lsp_mtx_read(ctx, in_folder("missing"), NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_IO, "is a directory", lsp_mtx_read(ctx, in_folder(""), NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_IO, "", lsp_mtx_read(ctx, "", NULL, &A, NULL));
    write_file(in_folder("empty"), "", 0);
    must_fail(ctx, LSP_ERR_FORMAT, "empty:1: the file is empty", lsp_mtx_read(ctx, in_folder("empty"), NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "the file is empty", lsp_mtx_read(ctx, "/dev/null", NULL, &A, NULL));
    write_file(in_folder("closed"), "x", 1);
    cr_assert(chmod(in_folder("closed"), 0) == 0);
    if (geteuid() != 0) {
        must_fail(ctx, LSP_ERR_IO, "Permission denied", lsp_mtx_read(ctx, in_folder("closed"), NULL, &A, NULL));
    }
    lsp_ctx_destroy(ctx);
}

Test(mtx_files, standard_input_and_pipes_are_read) {
    const char *text = REAL "2 2 2\n1 1 1\n2 2 2.5\n";
    unsigned char packed[512];
    size_t count = pack(text, strlen(text), packed, sizeof packed);
    for (int way = 0; way < 3; way++) {
        int ends[2];
        cr_assert(pipe(ends) == 0);
        const char *bytes = way == 2 ? (const char *)packed : text;
        size_t left = way == 2 ? count : strlen(text);
        pid_t child = fork();
        if (child == 0) {
            for (; left > 0; bytes++, left--) { /* byte by byte: the first read gets only half of gzip's magic number */
                if (write(ends[1], bytes, 1) != 1) {
                    _exit(1);
                }
                usleep(way > 0 && left > strlen(text) - 2 ? 20000 : 0);
            }
            _exit(0);
        }
        close(ends[1]);
        lsp_ctx *ctx = test_ctx(2);
        lsp_csr A;
        lsp_mtx_info info;
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
        if (way == 0) {
            cr_assert(dup2(ends[0], 0) == 0);
        }
        must(ctx, lsp_mtx_read(ctx, way == 0 ? "-" : path, NULL, &A, &info));
        cr_assert(A.nnz == 2 && info.compressed == (way == 2) && info.bytes == (int64_t)strlen(text));
        lsp_ctx_destroy(ctx);
        close(ends[0]);
    }
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    int fd = open(LSP_SOURCE_DIR "/matrices/data/general.mtx", O_RDONLY); /* a file as standard input */
    cr_assert(fd >= 0 && dup2(fd, 0) == 0);
    must(ctx, lsp_mtx_read(ctx, "-", NULL, &A, NULL));
    cr_assert(A.nnz == 8);
    close(0);
    must_fail(ctx, LSP_ERR_IO, "standard input", lsp_mtx_read(ctx, "-", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
}

/* ---- a file that changes while it is read ---- */

static void spoil(void *path, const char *phase, double fraction) { /* between the passes */
    (void)phase;
    if (path && fraction > 0.29 && fraction < 0.31) {
        int fd = open(path, O_WRONLY);
        const char *other = "9 9 9\n9 9 9\n9 9 9\n";
        cr_assert(fd >= 0 && pwrite(fd, other, 18, (off_t)strlen(REAL "9 9 4000\n") + 6 * 400) == 18 && close(fd) == 0);
    }
}
static void shrink(void *path, const char *phase, double fraction) {
    (void)phase;
    if (path && fraction > 0.29 && fraction < 0.31) {
        cr_assert(truncate(path, 3000) == 0);
    }
}

Test(mtx_files, a_file_that_changes_meanwhile_is_an_error, .fini = remove_folder) {
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("changing"));
    for (int way = 0; way < 2; way++) {
        long_text t = {0};
        append(&t, REAL "9 9 4000\n");
        for (int k = 0; k < 4000; k++) {
            append(&t, "1 1 1\n");
        }
        write_file(path, t.start, t.bytes);
        lsp_ctx *ctx;
        lsp_csr A;
        lsp_ctx_options options = {.threads = 1, .progress = way ? shrink : spoil, .hook_user = path};
        cr_assert(lsp_ctx_create(&ctx, &options, NULL, 0) == LSP_OK);
        must_fail(ctx, LSP_ERR_IO, way ? "shorter" : "changed", lsp_mtx_read(ctx, path, NULL, &A, NULL));
        lsp_ctx_destroy(ctx);
        free(t.start);
    }
}

/* ---- real matrices ---- */
