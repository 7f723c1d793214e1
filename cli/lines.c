/* The lines of a text that lies in memory. */
#include "lines.h"
#include "arguments.h"

#include <stdarg.h>
#include <string.h>

int cli_malformed(cli_lines *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int used = l->line > 0 ? snprintf(l->error, CLI_SENTENCE, "%.300s:%lld: ", l->name, (long long)l->line)
                                 : snprintf(l->error, CLI_SENTENCE, "%.300s: ", l->name);
    vsnprintf(l->error + used, (size_t)(CLI_SENTENCE - used), format, arguments);
    va_end(arguments);
    return CLI_INPUT;
}

bool cli_next_line(cli_lines *l) {
    if (l->next == l->end) {
        return false;
    }
    const char *stop = memchr(l->next, '\n', (size_t)(l->end - l->next));
    l->from = l->next;
    l->to = stop ? stop : l->end;
    l->next = stop ? stop + 1 : l->end;
    l->to -= l->to > l->from && l->to[-1] == '\r';
    l->line++;
    return true;
}
