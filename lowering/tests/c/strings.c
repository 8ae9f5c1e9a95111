// Strings: with zeros and bytes beyond ASCII inside, walked, compared, built.
#include <stdio.h>
#include <string.h>

static const char bytes[] = "tab\tquote\"back\\zero\0after\xff\x80";
static char buffer[64];
const char *const days[] = {"mon", "tues", "wednes", ""};

unsigned hash(const char *s) {
    unsigned h = 2166136261u;
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}

int palindrome(const char *s) {
    size_t i = 0, j = strlen(s);
    while (i < j)
        if (s[i++] != s[--j])
            return 0;
    return 1;
}

int main(void) {
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        sum = sum * 3 + (unsigned char)bytes[i];
    for (int i = 0; i < 4; i++)
        strcat(strcpy(buffer, days[i]), "day"), printf("%s %u\n", buffer, hash(buffer));
    memset(buffer, 'x', 10);
    memmove(buffer + 3, buffer, 12);
    printf("%u %d%d %s %d\n", sum, palindrome("racecar"), palindrome("almost"), buffer, memcmp(days[0], "mop", 3) < 0);
    return 0;
}
