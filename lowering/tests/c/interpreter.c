// An interpreter of bytes: one loop around a large switch, a stack, jumps.
#include <stdio.h>

enum { PUSH, ADD, SUB, MUL, DUP, SWAP, JUMP_IF, LESS, DROP, PRINT, HALT };

static int run(const signed char *code) {
    int stack[32], top = 0, steps = 0;
    for (int pc = 0;; steps++) {
        switch (code[pc++]) {
        case PUSH: stack[top++] = code[pc++]; break;
        case ADD: top--; stack[top - 1] += stack[top]; break;
        case SUB: top--; stack[top - 1] -= stack[top]; break;
        case MUL: top--; stack[top - 1] *= stack[top]; break;
        case DUP: stack[top] = stack[top - 1]; top++; break;
        case SWAP: { int t = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = t; break; }
        case JUMP_IF: { int offset = code[pc++]; if (stack[--top]) pc += offset; break; }
        case LESS: top--; stack[top - 1] = stack[top - 1] < stack[top]; break;
        case DROP: top--; break;
        case PRINT: printf("%d ", stack[top - 1]); break;
        case HALT: return steps;
        default: __builtin_unreachable();
        }
    }
}

int main(void) {
    // The factorial of 9, counted down.
    static const signed char factorial[] = {PUSH, 1, PUSH, 9, DUP, PUSH, 2, LESS, JUMP_IF, 13, DUP, PUSH, -1, ADD, SWAP, PRINT, DROP,
                                            DUP, MUL, DROP, PUSH, 5, PRINT, HALT, PRINT, HALT};
    printf("%d\n", run(factorial));
    return 0;
}
