/* The steps of a run, in the order in which main.c takes them. A step that fails prints one sentence on standard error
 * and returns its exit code; CLI_DONE otherwise. */
#pragma once

#include "job.h"

/* Reads or generates A, B and the mask. */
int cli_read(cli_job *job);

/* --info: describes A, B and the memory that their product needs. */
int cli_info(cli_job *job);

/* Multiplies, checks, compares and writes, as the options say. With --dry-run it plans only. */
int cli_product(cli_job *job);

/* --devices: makes C with a block of rows on each device, and gathers it on the host. ms[k]: of run k. With --dry-run
 * it plans only. */
int cli_multiply_parts(cli_job *job, double *ms);

/* The field of C's file: integer if A and B are files of integers and no sum can be rounded. Cost: O(nnz). */
lsp_mtx_field cli_product_field(const cli_job *job);

/* --compare: multiplies by cuSPARSE and compares its C with ours. Needs the product on the host. */
int cli_compare(cli_job *job);

/* Draws the pattern of a matrix: an SVG file, which appears complete or not at all, or characters. */
int cli_spy_svg(const char *path, const lsp_csr *matrix, const char *title);
int cli_spy_text(FILE *to, const lsp_csr *matrix, const char *title);

/* Prints the result of a product or a dry run as a table or as JSON. */
void cli_report(const cli_job *job);

/* The head of every table: A, B and the mask, one row each. */
void cli_report_operands(const cli_job *job);

/* Prints why the check failed. Returns CLI_CHECK. */
int cli_check_failed(const cli_job *job);
