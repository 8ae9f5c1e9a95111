// Virtual calls: an abstract class, several bases, a virtual base, thunks.
#include <cstdio>

struct shape {
    virtual double area() const = 0;
    virtual int corners() const { return 0; }
    virtual ~shape() {}
};
struct named { virtual const char *name() const { return "named"; } int tag = 5; };
struct square final : shape, named {
    double side;
    explicit square(double s) : side(s) {}
    double area() const override { return side * side; }
    int corners() const override { return 4; }
    const char *name() const override { return "square"; }
};
struct circle : shape {
    double r;
    explicit circle(double r) : r(r) {}
    double area() const override { return 3 * r * r; }
};
struct base { int x = 1; virtual int get() { return x; } };
struct left : virtual base { int get() override { return x * 10 + 1; } };
struct right : virtual base { int y = 7; };
struct both : left, right { int z = 9; };

int main() {
    square s(3);
    circle c(2);
    shape *all[] = {&s, &c, &s};
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum = sum * 2 + all[i]->area() + all[i]->corners();
    named *n = &s;
    both b;
    base *v = &b;
    right *r = &b;
    std::printf("%g %s %d %d %d %d\n", sum, n->name(), n->tag, v->get(), r->x, r->get());
}
