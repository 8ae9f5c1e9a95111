// Inline functions and variables of C++: comdats, and static locals of them.
#include <cstdio>

inline int shared = 3;
inline int count() {
    static int calls = 0;
    return ++calls * shared;
}
constexpr int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
inline namespace v1 { inline int named(int x = 4) { return x ^ factorial(6); } }
template <int N> struct table { static inline int values[N] = {N, N * 2}; };

int main() {
    for (int i = 0; i < 3; i++)
        shared += count();
    std::printf("%d %d %d %d\n", shared, named(), table<5>::values[1], factorial(7));
}
