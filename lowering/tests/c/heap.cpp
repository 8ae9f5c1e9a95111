// `new` and `delete`: of arrays, aligned, placed; a smart pointer of one's own. Without exceptions.
#include <cstdio>
#include <new>

template <typename T> class box {
    T *p;
public:
    explicit box(T *p) : p(p) {}
    box(const box &) = delete;
    box(box &&o) : p(o.p) { o.p = nullptr; }
    ~box() { delete p; }
    T *operator->() const { return p; }
    explicit operator bool() const { return p; }
};
struct item { int v; static int alive; item(int v) : v(v) { alive++; } ~item() { alive--; } };
int item::alive = 0;
struct alignas(64) wide { int v[16]; };

int main() {
    int *numbers = new int[20];
    for (int i = 0; i < 20; i++)
        numbers[i] = i * i;
    int s = 0;
    for (int i = 19; i >= 0; i -= 3)
        s = s * 2 + numbers[i];
    delete[] numbers;
    {
        box<item> a(new item(5)), b(static_cast<box<item> &&>(a));
        alignas(item) char raw[sizeof(item)];
        item *placed = new (raw) item(6);
        s += b->v + placed->v + (a ? 1000 : 0) + item::alive * 100;
        placed->~item();
    }
    wide *w = new wide{};
    bool aligned = reinterpret_cast<unsigned long>(w) % 64 == 0;
    delete w;
    std::printf("%d %d %d\n", s, item::alive, aligned);
}
