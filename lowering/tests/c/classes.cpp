// Classes: constructors and destructors in order, copies, moves, operators, globals that are constructed.
#include <cstdio>

struct trace {
    int id;
    explicit trace(int i) : id(i) { std::printf("+%d ", id); }
    trace(const trace &o) : id(o.id * 10) { std::printf("c%d ", id); }
    trace(trace &&o) noexcept : id(o.id + 100) { o.id = 0; std::printf("m%d ", id); }
    ~trace() { std::printf("-%d ", id); }
};
static trace global(1);

class big {
    unsigned limbs[4] = {};
public:
    big(unsigned x) { limbs[0] = x; }
    big &operator*=(unsigned x) {
        unsigned long carry = 0;
        for (unsigned &l : limbs) {
            carry += (unsigned long)l * x;
            l = (unsigned)carry;
            carry >>= 32;
        }
        return *this;
    }
    friend bool operator==(const big &, const big &) = default;
    unsigned operator[](int i) const { return limbs[i]; }
};

trace make(int i) { return trace(i); }

int main() {
    trace a = make(2);
    {
        trace b = a, c = static_cast<trace &&>(a);
        for (int i = 0; i < 2; i++)
            trace loop(30 + i);
    }
    big x(1);
    for (unsigned i = 1; i < 25; i++)
        x *= i;
    std::printf("%x %x %d\n", x[1], x[2], x == big(1));
}
