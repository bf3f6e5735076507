/* Finished text without a C library: a growing line in a fixed buffer. */
#ifndef CC_TEXT_H
#define CC_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "real.h"

#define CC_TEXT_SIZE 1000 /* longer text is cut; a stack frame must stay below one page (Windows without __chkstk) */

typedef struct {
    size_t length;
    char chars[CC_TEXT_SIZE];
} CcText;

CC_API __attribute__((noinline)) void cc_text_char(CcText *text, char c)
{
    if (text->length + 1 < CC_TEXT_SIZE)
        text->chars[text->length++] = c;
    text->chars[text->length] = '\0';
}

CC_API __attribute__((noinline)) void cc_text_string(CcText *text, const char *s)
{
    for (; s && *s; s++)
        cc_text_char(text, *s);
}

CC_API __attribute__((noinline)) void cc_text_integer(CcText *text, long long value)
{
    char digits[20];
    int n = 0;
    unsigned long long rest = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    if (value < 0)
        cc_text_char(text, '-');
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    while (n)
        cc_text_char(text, digits[--n]);
}

/* Up to `most` significant digits, at most nine, as %.9g would print them but for ties of the last digit; exponents as
 * e9, e-7. */
CC_API __attribute__((noinline)) void cc_text_number(CcText *text, double value, int most)
{
    if (value != value) {
        cc_text_string(text, "NaN");
        return;
    }
    if (value < 0.0) {
        cc_text_char(text, '-');
        value = -value;
    }
    if (!cc_is_finite(value)) {
        cc_text_string(text, "infinity");
        return;
    }
    if (value == 0.0) {
        cc_text_char(text, '0');
        return;
    }
    /* value = mantissa * 10^exponent with 1e8 <= mantissa < 1e9 */
    static const double powers[9] = {1e256, 1e128, 1e64, 1e32, 1e16, 1e8, 1e4, 1e2, 1e1};
    static const double inverses[9] = {1e-256, 1e-128, 1e-64, 1e-32, 1e-16, 1e-8, 1e-4, 1e-2, 1e-1};
    static const int steps[9] = {256, 128, 64, 32, 16, 8, 4, 2, 1};
    int exponent = 0;
    for (int i = 0; i < 9; i++)
        if (value >= powers[i] * 1e8) {
            value /= powers[i];
            exponent += steps[i];
        }
    for (int i = 0; i < 9; i++)
        if (value < 1e9 * inverses[i]) {
            value *= powers[i];
            exponent -= steps[i];
        }
    long long mantissa = (long long)(value + 0.5), last = 1;
    for (int i = most; i < 9; i++)
        last *= 10;
    mantissa = (mantissa + last / 2) / last * last;
    if (mantissa >= 1000000000) {
        mantissa = (mantissa + 5) / 10;
        exponent++;
    }
    char digits[9];
    for (int i = 8; i >= 0; i--, mantissa /= 10)
        digits[i] = (char)('0' + mantissa % 10);
    int count = 9;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    int point = exponent + 8; /* decimal exponent of the first digit */
    if (point < -4 || point >= 9) {
        cc_text_char(text, digits[0]);
        if (count > 1)
            cc_text_char(text, '.');
        for (int i = 1; i < count; i++)
            cc_text_char(text, digits[i]);
        cc_text_char(text, 'e');
        cc_text_integer(text, point);
        return;
    }
    if (point < 0) {
        cc_text_string(text, "0.");
        for (int i = point + 1; i < 0; i++)
            cc_text_char(text, '0');
    }
    for (int i = 0; i < count || i <= point; i++) {
        if (i > 0 && i == point + 1)
            cc_text_char(text, '.');
        cc_text_char(text, i < count ? digits[i] : '0');
    }
}

/* printf of %s, %d, %g, which has nine digits here, %.1g to %.9g, and %%. */
CC_API __attribute__((noinline)) void cc_text_format(CcText *text, const char *format, va_list arguments)
{
    for (; *format; format++) {
        if (*format != '%') {
            cc_text_char(text, *format);
            continue;
        }
        if (*++format == '\0') /* a lone % at the end stands for itself */
            format = "%";
        int digits = 9;
        if (format[0] == '.' && format[1] >= '1' && format[1] <= '9') {
            digits = format[1] - '0';
            format += 2;
        }
        if (*format == 's')
            cc_text_string(text, va_arg(arguments, const char *));
        else if (*format == 'd')
            cc_text_integer(text, va_arg(arguments, int));
        else if (*format == 'g')
            cc_text_number(text, va_arg(arguments, double), digits);
        else
            cc_text_char(text, '%');
    }
}

/* Append to a text that gives the reason why something is not done; returns 0, so that `return cc_append(...)` does. */
CC_API __attribute__((noinline, cold, format(printf, 2, 3))) int cc_append(CcText *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cc_text_format(text, format, arguments);
    va_end(arguments);
    return 0;
}

#endif
