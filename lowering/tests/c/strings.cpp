// Text at compile time, wide characters, raw literals.
#include <cstddef>
#include <cstdio>

constexpr unsigned hash(const char *s) { return *s ? (hash(s + 1) ^ static_cast<unsigned char>(*s)) * 16777619u : 2166136261u; }
static constexpr wchar_t wide[] = L"w\u00efde \U0001f600";
static constexpr char16_t half[] = u"\u00fc\U0001f600";
static const char raw[] = R"(no \escapes "here")";

template <std::size_t N> unsigned sum(const char (&text)[N]) {
    unsigned s = 0;
    for (std::size_t i = 0; i < N; i++)
        s = s * 5 + static_cast<unsigned char>(text[i]);
    return s;
}

int main() {
    unsigned w = 0;
    for (wchar_t c : wide)
        w = w * 7 + static_cast<unsigned>(c);
    static_assert(hash("a") != hash("b"));
    std::printf("%u %u %d %u %s\n", hash("template"), w, half[2], sum("caf\xc3\xa9"), raw);
}
