// `for` over ranges: arrays, an iterator of one's own, structured bindings, initialisers.
#include <cstdio>

struct counter {
    int low, high;
    struct iterator {
        int at;
        int operator*() const { return at; }
        iterator &operator++() { ++at; return *this; }
        bool operator!=(const iterator &o) const { return at != o.at; }
    };
    iterator begin() const { return {low}; }
    iterator end() const { return {high}; }
};
struct entry { int key; double value; };

int main() {
    int s = 0;
    for (int i : counter{3, 20})
        s = s * 3 % 1009 + i;
    entry entries[] = {{1, 0.5}, {2, 1.5}, {3, -4}};
    double d = 0;
    for (auto &[key, value] : entries)
        d += key * (value += 1);
    if (int half = s / 2; half > 10)
        s += half;
    std::printf("%d %g %g\n", s, d, entries[2].value);
}
