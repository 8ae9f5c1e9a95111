// Enumerations with a type of their own, constant expressions, `consteval`, literals.
#include <cstdint>
#include <cstdio>

enum class colour : std::uint8_t { red = 1, green = 2, blue = 4 };
constexpr colour operator|(colour a, colour b) { return static_cast<colour>(static_cast<int>(a) | static_cast<int>(b)); }
consteval int cubed(int x) { return x * x * x; }
constexpr long operator""_k(unsigned long long x) { return static_cast<long>(x) * 1000; }

static const char *name(colour c) {
    switch (c) {
    case colour::red: return "red";
    case colour::green: return "green";
    case colour::blue: return "blue";
    }
    return "mixed";
}

int main() {
    int n = 0;
    for (int bits = 0; bits < 8; bits++)
        if constexpr (sizeof(colour) == 1)
            n = n * 10 + (name(static_cast<colour>(bits))[0] & 7);
    std::printf("%s %s %d %d %ld\n", name(colour::green), name(colour::red | colour::blue), n, cubed(7), 3_k);
}
