// Chasing pointers: lists, a tree, pointers to pointers.
#include <stdio.h>
#include <stdlib.h>

struct node { int key; struct node *left, *right; };

static void insert(struct node **at, int key) {
    while (*at)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = malloc(sizeof **at);
    **at = (struct node){key, 0, 0};
}

static int depth(const struct node *n) {
    if (!n)
        return 0;
    int l = depth(n->left), r = depth(n->right);
    return 1 + (l > r ? l : r);
}

static long walk(struct node *n, long s) {
    while (n) {
        s = walk(n->left, s) * 3 + n->key;
        n = n->right;
    }
    return s & 0xffffff;
}

static void drop(struct node *n) {
    if (n) {
        drop(n->left);
        drop(n->right);
        free(n);
    }
}

int main(void) {
    struct node *root = NULL;
    unsigned x = 1;
    for (int i = 0; i < 64; i++) {
        x = x * 1103515245u + 12345u;
        insert(&root, (int)(x >> 20));
    }
    printf("%d %ld\n", depth(root), walk(root, 0));
    drop(root);
    return 0;
}
