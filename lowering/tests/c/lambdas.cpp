// Lambdas: with captures by value and by reference, changing, generic, as pointers to functions.
#include <cstdio>

template <typename F> int repeat(int n, F f) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += f(i);
    return s;
}

auto adder(int by) {
    return [by](int x) { return x + by; };
}

int main() {
    int total = 0, factor = 3;
    repeat(5, [&](int i) { return total += i * factor; });
    auto counter = [n = 10]() mutable { return n++; };
    counter();
    int (*plain)(int) = [](int x) { return x * x; };
    auto generic = [](auto a, auto b) { return a * b; };
    std::printf("%d %d %d %d %g\n", total, counter(), plain(12), repeat(4, adder(100)), generic(2, 1.25));
}
