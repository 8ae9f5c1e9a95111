// Variables of each thread that are constructed, and static locals with a guard.
#include <cstdio>

struct start { int v; start(int v) : v(v) {} };
static int seed() { static int n = 40; return n += 2; }
thread_local start dynamic(seed());
thread_local int plain = 8;

int once(int x) {
    static start s(seed() + x);
    return s.v++;
}

int main() {
    int s = 0;
    for (int i = 0; i < 4; i++)
        s = s * 3 + once(i) + plain++;
    std::printf("%d %d %d\n", s, dynamic.v, plain);
}
