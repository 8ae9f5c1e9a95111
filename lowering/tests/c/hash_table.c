// A hash table with open addressing: inserting, growing, removing with marks, counting.
#include <stdio.h>
#include <stdlib.h>

struct entry { unsigned key; int value; enum { FREE, USED, REMOVED } state; };
struct table { struct entry *entries; unsigned capacity, used; };

static struct entry *slot(const struct table *t, unsigned key) {
    struct entry *removed = NULL;
    for (unsigned i = key * 2654435769u;; i++) {
        struct entry *e = &t->entries[i & (t->capacity - 1)];
        if (e->state == FREE)
            return removed ? removed : e;
        if (e->state == REMOVED)
            removed = removed ? removed : e;
        else if (e->key == key)
            return e;
    }
}

static void put(struct table *t, unsigned key, int value) {
    if (t->used * 4 >= t->capacity * 3) {
        struct table bigger = {calloc(t->capacity * 2, sizeof *t->entries), t->capacity * 2, 0};
        for (unsigned i = 0; i < t->capacity; i++)
            if (t->entries[i].state == USED)
                put(&bigger, t->entries[i].key, t->entries[i].value);
        free(t->entries);
        *t = bigger;
    }
    struct entry *e = slot(t, key);
    t->used += e->state != USED;
    *e = (struct entry){key, value, USED};
}

int main(void) {
    struct table t = {calloc(4, sizeof *t.entries), 4, 0};
    for (unsigned i = 0; i < 200; i++)
        put(&t, i * i % 131, (int)i);
    int sum = 0, removed = 0;
    for (unsigned key = 0; key < 131; key += 3) {
        struct entry *e = slot(&t, key);
        if (e->state == USED)
            e->state = REMOVED, removed++;
    }
    for (unsigned i = 0; i < t.capacity; i++)
        if (t.entries[i].state == USED)
            sum += t.entries[i].value;
    printf("%u %u %d %d\n", t.capacity, t.used, removed, sum);
    free(t.entries);
    return 0;
}
