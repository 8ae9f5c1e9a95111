// Templates: of functions, classes and numbers; overloads; specialisation; packs.
#include <cstdio>

template <typename T> T larger(T a, T b) { return a < b ? b : a; }
template <typename T, int N> struct ring {
    T items[N] = {};
    int at = 0;
    void push(T x) { items[at++ % N] = x; }
    T sum() const {
        T s{};
        for (const T &x : items)
            s += x;
        return s;
    }
};
template <int N> struct fib { static constexpr long value = fib<N - 1>::value + fib<N - 2>::value; };
template <> struct fib<1> { static constexpr long value = 1; };
template <> struct fib<0> { static constexpr long value = 0; };
template <typename... T> double total(T... xs) { return (0.0 + ... + xs); }
int pick(int) { return 1; }
int pick(double) { return 2; }

int main() {
    ring<int, 4> a;
    ring<double, 3> b;
    for (int i = 0; i < 10; i++) {
        a.push(i * i);
        b.push(i * 0.5);
    }
    std::printf("%d %g %d %g\n", a.sum(), b.sum(), larger(3, 7), larger(2.5, 1.5));
    std::printf("%ld %g %d%d\n", fib<40>::value, total(1, 2.5, 3u, 4L), pick(1), pick(1.0));
}
