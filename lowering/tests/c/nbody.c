// Bodies that attract each other: nested loops over structs of doubles.
#include <math.h>
#include <stdio.h>

struct body { double x[3], v[3], mass; };

static struct body bodies[4] = {
    {{0, 0, 0}, {0, 0, 0}, 10},
    {{1, 0, 0.1}, {0, 3, 0}, 0.1},
    {{0, 2, 0}, {-2, 0, 0.2}, 0.2},
    {{-3, 0, 0}, {0, -1.5, 0}, 0.05},
};

double energy(int n) {
    double e = 0;
    for (int i = 0; i < n; i++) {
        const struct body *b = &bodies[i];
        double speed = 0;
        for (int k = 0; k < 3; k++)
            speed += b->v[k] * b->v[k];
        e += 0.5 * b->mass * speed;
        for (int j = i + 1; j < n; j++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                double d = b->x[k] - bodies[j].x[k];
                square += d * d;
            }
            e -= b->mass * bodies[j].mass / sqrt(square);
        }
    }
    return e;
}

void advance(int n, int steps, double dt) {
    while (steps--) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (i == j)
                    continue;
                double d[3], square = 0;
                for (int k = 0; k < 3; k++) {
                    d[k] = bodies[j].x[k] - bodies[i].x[k];
                    square += d[k] * d[k];
                }
                double pull = bodies[j].mass * dt / (square * sqrt(square));
                for (int k = 0; k < 3; k++)
                    bodies[i].v[k] += d[k] * pull;
            }
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                bodies[i].x[k] += bodies[i].v[k] * dt;
    }
}

int main(void) {
    printf("%.6f ", energy(4));
    advance(4, 100, 0.001);
    printf("%.6f %.6f\n", energy(4), bodies[1].x[1]);
    return 0;
}
