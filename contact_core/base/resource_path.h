/* The path of the folder `resources` from what an importer gives.
 *
 *     file:///data/a%20b/resources    /data/a b/resources    what FMI 2.0 asks for; %20 and the like are bytes
 *     file:/data/..., file://localhost/data/...              the same
 *     file:///C:/a, file:/C:/a, file://C:/a                  C:/a on Windows
 *     file://server/share/a, file:////server/share/a         //server/share/a on Windows, /share/a elsewhere
 *     /data/a b/resources/, C:\a\resources\                  a path as it stands: FMI 3.0, some importers of FMI 2.0
 *
 * Slashes at the end are left out. */
#ifndef CC_RESOURCE_PATH_H
#define CC_RESOURCE_PATH_H

#include "real.h"

#include <stddef.h>

#define CC_PATH_SIZE 900 /* bytes; with the name of a file it fits into CcText */

#ifndef CC_PATHS_OF_WINDOWS /* a test has both kinds on one machine */
#ifdef _WIN32
#define CC_PATHS_OF_WINDOWS 1
#else
#define CC_PATHS_OF_WINDOWS 0
#endif
#endif

CC_APART int cc_hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

CC_API int cc_is_separator(char c) { return c == '/' || (CC_PATHS_OF_WINDOWS && c == '\\'); }

/* Whether a drive of Windows stands here, as C: or C:/. */
CC_APART int cc_is_drive(const char *at)
{
    int is_letter = (at[0] >= 'a' && at[0] <= 'z') || (at[0] >= 'A' && at[0] <= 'Z');
    return CC_PATHS_OF_WINDOWS && is_letter && at[1] == ':' && (!at[2] || cc_is_separator(at[2]));
}

/* How many characters of a text are those of `begin`, which is in small letters, if all of them are there; else 0. */
CC_APART size_t cc_begins(const char *text, const char *begin)
{
    size_t n = 0;
    for (; begin[n]; n++)
        if (text[n] != begin[n] && text[n] != begin[n] - ('a' - 'A'))
            return 0;
    return n;
}

/* 0 if the path is too long, or holds the end of a text in its middle. */
CC_APART int cc_path_of(const char *given, char *path, size_t size)
{
    size_t length = 0, is_uri = cc_begins(given, "file:");
    const char *from = given + is_uri;
    if (is_uri && from[0] == '/' && from[1] == '/') {
        size_t local = cc_begins(from + 2, "localhost");
        if (cc_is_drive(from + 2) || (local && cc_is_separator(from[2 + local])))
            from += 2 + local;
        else if (!CC_PATHS_OF_WINDOWS || !from[2] || cc_is_separator(from[2])) /* no host, or one without a place */
            for (from += 2; *from && !cc_is_separator(*from);)
                from++;
    }
    for (; *from; from++) {
        char c = *from;
        if (is_uri && c == '%' && cc_hex_digit(from[1]) >= 0 && cc_hex_digit(from[2]) >= 0) {
            c = (char)(16 * cc_hex_digit(from[1]) + cc_hex_digit(from[2]));
            from += 2;
        }
        if (length + 1 >= size || !c)
            return 0;
        path[length++] = c;
    }
    path[length] = '\0';
    if (is_uri && path[0] == '/' && cc_is_drive(path + 1)) { /* /C:/... */
        for (size_t i = 0; i < length; i++)
            path[i] = path[i + 1];
        length--;
    }
    while (length > 1 && cc_is_separator(path[length - 1]))
        length--;
    path[length] = '\0';
    return 1;
}

/* A whole path of Windows, backslashes only, as its functions for files take it at any length: without more they end at
 * 259 characters, unless the user has allowed longer ones.   full  the path from CC_LONG_PREFIX on, the room for
 *
 *     C:\a            \\?\C:\a
 *     \\server\a      \\?\UNC\server\a
 *     \\?\C:\a, ...   as it is
 *
 * in front of it; returns where it begins. */
enum { CC_LONG_PREFIX = 8, CC_LONGEST_PLAIN = 259 };

CC_API unsigned short *cc_long_path(unsigned short *full)
{
    unsigned short *path = full + CC_LONG_PREFIX;
    size_t length = 0;
    while (path[length])
        length++;
    int is_server = path[0] == '\\' && path[1] == '\\';
    if (length <= CC_LONGEST_PLAIN || (is_server && (path[2] == '?' || path[2] == '.')))
        return path;
    const char *prefix = is_server ? "\\\\?\\UNC" : "\\\\?\\";
    size_t size = is_server ? 7 : 4;
    path += (size_t)is_server - size; /* one of the two backslashes of a server stays */
    for (size_t i = 0; i < size; i++)
        path[i] = (unsigned short)prefix[i];
    return path;
}

#endif
