// A machine of states made of labels.
#include <stdio.h>

int words(const char *text) {
    int n = 0;
    char c;
outside:
    c = *text++;
    if (!c)
        goto end;
    if (c == ' ')
        goto outside;
    n++;
inside:
    c = *text++;
    if (c == '"')
        goto quoted;
    if (c && c != ' ')
        goto inside;
    if (c)
        goto outside;
    goto end;
quoted:
    c = *text++;
    if (c == '"')
        goto inside;
    if (c)
        goto quoted;
    n += 100;
end:
    return n;
}

int main(void) {
    printf("%d %d %d\n", words(" a bc  d"), words("say \"a b c\"d e"), words("x\"never closed"));
    return 0;
}
