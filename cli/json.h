/* Writes one JSON object on one line, value by value. Keys are NULL inside an array. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_json {
    FILE *to;
    bool comma; /* the next value needs a comma before it */
} cli_json;

void cli_json_open(cli_json *json, const char *key, char bracket);       /* { or [ */
void cli_json_close(cli_json *json, char bracket);                       /* } or ] */
void cli_json_string(cli_json *json, const char *key, const char *text); /* NULL: null */
void cli_json_integer(cli_json *json, const char *key, int64_t value);
void cli_json_number(cli_json *json, const char *key, double value); /* null if not finite */
/* A measured value with six digits, more than any clock resolves; null if it is not known. */
void cli_json_measured(cli_json *json, const char *key, bool known, double value);
void cli_json_bool(cli_json *json, const char *key, bool value);
void cli_json_null(cli_json *json, const char *key);
/* "check": whether a check found the result right, and why not (an empty `why`: it is right); null if not checked. */
void cli_json_check(cli_json *json, bool checked, const char *why);
