/* Writes one JSON object on one line. Numbers have the fewest digits that read back to the same value;
 * LC_NUMERIC is "C", so "." is the decimal point. Strings are valid UTF-8: an invalid byte becomes U+FFFD. */
#include "json.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

static void quoted(FILE *to, const char *text) {
    fputc('"', to);
    while (*text) {
        int length = cli_utf8_length(text);
        unsigned char c = (unsigned char)*text;
        if (length == 0) {
            fputs("\\ufffd", to);
            length = 1;
        } else if (c < 0x20 || c == 0x7F) {
            fprintf(to, "\\u%04x", c);
        } else {
            fprintf(to, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", length, text);
        }
        text += length;
    }
    fputc('"', to);
}

static void key_of(cli_json *json, const char *key) {
    fputs(json->comma ? ", " : "", json->to);
    if (key) {
        quoted(json->to, key);
        fputs(": ", json->to);
    }
    json->comma = true;
}

void cli_json_open(cli_json *json, const char *key, char bracket) {
    key_of(json, key);
    fputc(bracket, json->to);
    json->comma = false;
}

void cli_json_close(cli_json *json, char bracket) {
    fputc(bracket, json->to);
    json->comma = true;
}

void cli_json_string(cli_json *json, const char *key, const char *text) {
    key_of(json, key);
    if (text) {
        quoted(json->to, text);
    } else {
        fputs("null", json->to);
    }
}

void cli_json_integer(cli_json *json, const char *key, int64_t value) {
    key_of(json, key);
    fprintf(json->to, "%lld", (long long)value);
}

void cli_json_number(cli_json *json, const char *key, double value) {
    key_of(json, key);
    fputs(isfinite(value) ? cli_exact(value, false).text : "null", json->to);
}

void cli_json_measured(cli_json *json, const char *key, bool known, double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", value);
    cli_json_number(json, key, known ? strtod(digits, NULL) : (double)NAN);
}

void cli_json_bool(cli_json *json, const char *key, bool value) {
    key_of(json, key);
    fputs(value ? "true" : "false", json->to);
}

void cli_json_null(cli_json *json, const char *key) {
    key_of(json, key);
    fputs("null", json->to);
}

void cli_json_check(cli_json *json, bool checked, const char *why) {
    if (!checked) {
        cli_json_null(json, "check");
        return;
    }
    cli_json_open(json, "check", '{');
    cli_json_bool(json, "ok", !*why);
    cli_json_string(json, "error", *why ? why : NULL);
    cli_json_close(json, '}');
}
