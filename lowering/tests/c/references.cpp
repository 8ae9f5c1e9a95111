// References, pointers to members, and to member functions, virtual ones too.
#include <cstdio>

struct account {
    int balance = 100, limit = 20;
    int draw(int n) { return n > balance + limit ? -1 : balance -= n; }
    virtual int fee(int n) { return n / 10; }
    int &total() { return balance; }
};
struct rich : account { int fee(int) override { return 1; } };

int sum(account *all, int n, int account::*which) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += all[i].*which;
    return s;
}

int main() {
    account all[3];
    rich r;
    all[1].total() = 7;
    int (account::*f)(int) = &account::draw, (account::*g)(int) = &account::fee;
    int &&temporary = 4 + (all[0].*f)(30);
    account &as_account = r;
    std::printf("%d %d %d %d %d\n", sum(all, 3, &account::balance), sum(all, 3, &account::limit), temporary, (as_account.*g)(500), (all[0].*g)(500));
}
