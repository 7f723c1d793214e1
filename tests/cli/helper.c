/* Checks that the tests need without other programs, such as jq, xmllint or script:
 *   helper json [KEY.KEY...]   checks that standard input is one JSON value; prints the value at the keys, as written
 *   helper xml                 checks that standard input is well-formed: tags closed, attributes quoted, & escaped
 *   helper tty COMMAND...      runs a command on a terminal; prints its output and errors
 *   helper pipe N COMMAND...   runs a command and closes its output pipe after N bytes; prints only its errors
 * tty and pipe end with the exit code of the command, or 128 + n after signal n. */
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char *text; /* all of standard input, NUL at its end */

static void fail(const char *what, const char *at) {
    fprintf(stderr, "helper: %s at byte %ld: %.40s\n", what, (long)(at - text), at);
    exit(1);
}

static void slurp(void) {
    size_t used = 0, capacity = 1 << 16, got = 0;
    text = malloc(capacity + 1);
    while (text && (got = fread(text + used, 1, capacity - used, stdin)) > 0) {
        used += got;
        if (used == capacity) {
            capacity *= 2;
            text = realloc(text, capacity + 1);
        }
    }
    if (!text) {
        exit(1);
    }
    text[used] = 0;
    if (strlen(text) != used) {
        fail("a NUL", text + strlen(text));
    }
}

/* ---- JSON ---- */

static const char *blank(const char *s) { return s + strspn(s, " \t\r\n"); }

static const char *json_string(const char *s) {
    if (*s != '"') {
        fail("no string", s);
    }
    for (s++; *s != '"'; s++) {
        if ((unsigned char)*s < 0x20) {
            fail("a bare control character in a string", s);
        }
        if (*s == '\\') {
            s++;
            bool hex = *s == 'u' && isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2]) &&
                       isxdigit((unsigned char)s[3]) && isxdigit((unsigned char)s[4]);
            if (!hex && (*s == 0 || !strchr("\"\\/bfnrt", *s))) {
                fail("a wrong escape", s);
            }
            s += hex ? 4 : 0;
        }
    }
    return s + 1;
}

static const char *json_number(const char *s) {
    const char *at = s + (*s == '-');
    size_t digits = strspn(at, "0123456789");
    if (digits == 0 || (digits > 1 && *at == '0')) {
        fail("no value", s);
    }
    at += digits;
    if (*at == '.') {
        digits = strspn(at + 1, "0123456789");
        at += digits > 0 ? digits + 1 : 0;
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        digits = strspn(at, "0123456789");
        if (digits == 0) {
            fail("no exponent", at);
        }
        at += digits;
    }
    return at;
}

/* Checks one value and returns its end. Prints the part at `path`, unless that is NULL. */
static const char *json_value(const char *s, const char *path, int depth) {
    if (path && *path == 0) {
        const char *end = json_value(s, NULL, depth);
        printf("%.*s\n", (int)(end - s), s);
        return end;
    }
    if (depth > 20) {
        fail("too deep", s);
    }
    if (*s == '"') {
        return json_string(s);
    }
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        if (strncmp(s, words[i], strlen(words[i])) == 0) {
            return s + strlen(words[i]);
        }
    }
    if (*s != '{' && *s != '[') {
        return json_number(s);
    }
    bool object = *s == '{';
    char close = object ? '}' : ']';
    s = blank(s + 1);
    while (*s != close) {
        const char *below = NULL;
        if (object) {
            const char *key = s;
            s = json_string(s);
            size_t length = (size_t)(s - key) - 2;
            if (path && strncmp(path, key + 1, length) == 0 && (path[length] == '.' || path[length] == 0)) {
                below = path + length + (path[length] == '.');
            }
            s = blank(s);
            if (*s != ':') {
                fail("no colon", s);
            }
            s = blank(s + 1);
        }
        s = blank(json_value(s, below, depth + 1));
        if (*s == ',') {
            s = blank(s + 1);
            if (*s == close) {
                fail("a comma before the end", s);
            }
        } else if (*s != close) {
            fail("no comma", s);
        }
    }
    return s + 1;
}

/* ---- XML ---- */

static void xml(void) {
    enum { deepest = 32 };
    const char *open[deepest], *s = text;
    size_t length[deepest];
    int depth = 0, roots = 0;
    while (*s) {
        if (*s == '&' && strncmp(s, "&lt;", 4) != 0 && strncmp(s, "&amp;", 5) != 0) {
            fail("a bare &", s);
        }
        if (*s != '<') {
            if (depth == 0 && !isspace((unsigned char)*s)) {
                fail("text outside", s);
            }
            s++;
            continue;
        }
        bool end = s[1] == '/';
        const char *name = s + 1 + end;
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz");
        s = name + n;
        while (*(s += strspn(s, " \n")) != '>' && *s != '/' && !end) {
            size_t key = strcspn(s, "=<> ");
            if (s[key] != '=' || s[key + 1] != '"') {
                fail("a wrong attribute", s);
            }
            s += key + 2;
            s += strcspn(s, "\"<");
            if (*s++ != '"') {
                fail("an attribute without end", s);
            }
        }
        bool empty = *s == '/';
        s += empty;
        if (n == 0 || *s++ != '>' || depth == deepest) {
            fail("a wrong tag", name);
        }
        if (end) {
            depth--;
            if (depth < 0 || n != length[depth] || strncmp(name, open[depth], n) != 0) {
                fail("closes what is not open", name);
            }
        } else {
            roots += depth == 0;
            open[depth] = name;
            length[depth] = n;
            depth += !empty;
        }
    }
    if (depth != 0 || roots != 1) {
        fail("not one whole element", s);
    }
}

/* ---- terminals and pipes ---- */

static int exit_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int with_terminal(char **command) {
    int ours = posix_openpt(O_RDWR | O_NOCTTY);
    if (ours < 0 || grantpt(ours) != 0 || unlockpt(ours) != 0) {
        perror("helper: no terminal");
        return 77;
    }
    int theirs = open(ptsname(ours), O_RDWR | O_NOCTTY);
    struct termios raw;
    if (theirs < 0 || tcgetattr(theirs, &raw) != 0) {
        perror("helper: no terminal");
        return 77;
    }
    cfmakeraw(&raw);
    tcsetattr(theirs, TCSANOW, &raw);
    pid_t child = fork();
    if (child == 0) {
        dup2(theirs, STDOUT_FILENO);
        dup2(theirs, STDERR_FILENO);
        close(ours);
        close(theirs);
        execvp(command[0], command);
        _exit(127);
    }
    close(theirs);
    char buffer[4096];
    for (ssize_t got; (got = read(ours, buffer, sizeof buffer)) > 0;) {
        fwrite(buffer, 1, (size_t)got, stdout);
    }
    return exit_of(child);
}

static int with_short_reader(long bytes, char **command) {
    int ends[2];
    if (pipe(ends) != 0) {
        return 77;
    }
    if (bytes == 0) { /* the pipe is closed before the command starts */
        close(ends[0]);
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(command[0], command);
        _exit(127);
    }
    close(ends[1]);
    char c;
    const bool reads = bytes > 0;
    while (bytes-- > 0 && read(ends[0], &c, 1) == 1) {
    }
    if (reads) {
        close(ends[0]);
    }
    return exit_of(child);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "json") == 0) {
        slurp();
        const char *end = blank(json_value(blank(text), argc > 2 ? argv[2] : NULL, 0));
        if (*end) {
            fail("more than one value", end);
        }
    } else if (strcmp(what, "xml") == 0) {
        slurp();
        xml();
    } else if (strcmp(what, "tty") == 0 && argc > 2) {
        return with_terminal(argv + 2);
    } else if (strcmp(what, "pipe") == 0 && argc > 3) {
        return with_short_reader(strtol(argv[2], NULL, 10), argv + 3);
    } else {
        fprintf(stderr, "helper json|xml|tty|pipe ...\n");
        return 1;
    }
    return 0;
}
