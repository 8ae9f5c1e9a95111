// The kernels of `kernels.c`, fused and tiled by hand. Each result is the same, bit for bit.

void sharpen(float in[restrict H][W], float blurred[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 1; x < W - 1; x++) {
      blurred[y][x] = (in[y][x - 1] + in[y][x] + in[y][x + 1]) / 3;
      out[y][x] = 2 * in[y][x] - blurred[y][x];
    }
}

void gray_threshold(float r[restrict H][W], float g[restrict H][W], float b[restrict H][W],
                    float gray[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      gray[y][x] = 0.299f * r[y][x] + 0.587f * g[y][x] + 0.114f * b[y][x];
      out[y][x] = gray[y][x] > 0.5f ? 1.0f : 0.0f;
    }
}

void gradients(float in[restrict H][W], float gx[restrict H][W], float gy[restrict H][W],
               float out[restrict H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      float a = in[y][x + 1] - in[y][x - 1], b = in[y + 1][x] - in[y - 1][x];
      gx[y][x] = a;
      gy[y][x] = b;
      out[y][x] = a * a + b * b;
    }
}

void blend(float a[restrict H][W], float b[restrict H][W], float bright[restrict H][W],
           float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      bright[y][x] = a[y][x] * (2 - a[y][x]);
      out[y][x] = 0.75f * bright[y][x] + 0.25f * b[y][x];
    }
}

void blur(float in[restrict H][W], float rows[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++) {
    for (int x = 1; x < W - 1; x++)
      rows[y][x] = (in[y][x - 1] + in[y][x] + in[y][x + 1]) / 3;
    if (y > 1)
      for (int x = 1; x < W - 1; x++)
        out[y - 1][x] = (rows[y - 2][x] + rows[y - 1][x] + rows[y][x]) / 3;
  }
}

// Four rows at a time, so that their sums do not wait for each other.
void center(float in[restrict H][W], float mean[restrict H], float out[restrict H][W]) {
  int y = 0;
  for (; y + 4 <= H; y += 4) {
    float a = 0, b = 0, c = 0, d = 0;
    for (int x = 0; x < W; x++) {
      a += in[y][x];
      b += in[y + 1][x];
      c += in[y + 2][x];
      d += in[y + 3][x];
    }
    mean[y] = a, mean[y + 1] = b, mean[y + 2] = c, mean[y + 3] = d;
    for (int k = 0; k < 4; k++)
      for (int x = 0; x < W; x++)
        out[y + k][x] = in[y + k][x] - mean[y + k] / W;
  }
  for (; y < H; y++) {
    float a = 0;
    for (int x = 0; x < W; x++)
      a += in[y][x];
    mean[y] = a;
    for (int x = 0; x < W; x++)
      out[y][x] = in[y][x] - a / W;
  }
}

void heat(double u[restrict H][W], double next[restrict H][W]) {
  for (int y = 1; y < H; y++) {
    if (y < H - 1)
      for (int x = 1; x < W - 1; x++)
        next[y][x] = u[y][x] + 0.1 * (u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1] - 4 * u[y][x]);
    if (y > 1)
      for (int x = 1; x < W - 1; x++)
        u[y - 1][x] = next[y - 1][x];
  }
}

void wave(double u[restrict H][W], double before[restrict H][W], double next[restrict H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 0; x < W; x++) {
      double now = u[y][x];
      next[y][x] = (2 * now - before[y][x] + 0.2 * (u[y - 1][x] + u[y + 1][x] - 2 * now)) * 0.99;
      before[y][x] = now;
    }
}

void transport(double c[restrict H][W], double t[restrict H][W], double out[restrict H][W]) {
  for (int y = 0; y < H; y++) {
    for (int x = 1; x < W; x++)
      t[y][x] = c[y][x] - 0.3 * (c[y][x] - c[y][x - 1]);
    if (y > 0)
      for (int x = 1; x < W; x++)
        out[y][x] = t[y][x] - 0.2 * (t[y][x] - t[y - 1][x]);
  }
}

void springs(double at[restrict P], double v[restrict P], double f[restrict P], double rest[restrict P]) {
  for (int i = 0; i < P; i++) {
    f[i] = 0.5 * (rest[i] - at[i]);
    v[i] = 0.999 * v[i] + 0.01 * f[i];
    at[i] += 0.01 * v[i];
  }
}

void pressure(double u[restrict H][W], double v[restrict H][W], double d[restrict H][W],
              double p[restrict H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      d[y][x] = u[y][x + 1] - u[y][x - 1] + v[y + 1][x] - v[y - 1][x];
      p[y][x] = 0.9 * p[y][x] - 0.25 * d[y][x];
    }
}

void energy(double v[restrict P], double h[restrict P], double kinetic[restrict P],
            double potential[restrict P], double all[restrict P]) {
  for (int i = 0; i < P; i++) {
    kinetic[i] = 0.5 * v[i] * v[i];
    potential[i] = 9.81 * h[i];
    all[i] = kinetic[i] + potential[i];
  }
}

void standardize(float in[restrict H][W], float shift[restrict W], float scale[restrict W],
                 float t[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      float own = (in[y][x] - shift[x]) * scale[x];
      t[y][x] = own;
      out[y][x] = own > 1 ? 1 : own < -1 ? -1 : own;
    }
}

void returns(double price[restrict P], double r[restrict P], double s[restrict P], double out[restrict P]) {
  for (int i = 0; i < P - 1; i++) {
    r[i] = price[i + 1] - price[i];
    s[i] = r[i] * r[i];
    out[i] = 0.1 * r[i] - 0.01 * s[i];
  }
}

void weights(float in[restrict H][W], float center[restrict W], float d[restrict H],
             float w[restrict H]) {
  int y = 0;
  for (; y + 4 <= H; y += 4) {
    float a[4] = {0};
    for (int x = 0; x < W; x++)
      for (int k = 0; k < 4; k++)
        a[k] += (in[y + k][x] - center[x]) * (in[y + k][x] - center[x]);
    for (int k = 0; k < 4; k++) {
      d[y + k] = a[k];
      w[y + k] = 1 / (1 + a[k]);
    }
  }
  for (; y < H; y++) {
    float a = 0;
    for (int x = 0; x < W; x++)
      a += (in[y][x] - center[x]) * (in[y][x] - center[x]);
    d[y] = a;
    w[y] = 1 / (1 + a);
  }
}

void margins(double in[restrict H][W], double rows[restrict H], double columns[restrict W]) {
  for (int x = 0; x < W; x++)
    columns[x] = 0;
  int y = 0;
  for (; y + 4 <= H; y += 4) {
    double a = 0, b = 0, c = 0, d = 0;
    for (int x = 0; x < W; x++) {
      a += in[y][x];
      b += in[y + 1][x];
      c += in[y + 2][x];
      d += in[y + 3][x];
    }
    rows[y] = a, rows[y + 1] = b, rows[y + 2] = c, rows[y + 3] = d;
    for (int x = 0; x < W; x++)
      columns[x] = columns[x] + in[y][x] + in[y + 1][x] + in[y + 2][x] + in[y + 3][x];
  }
  for (; y < H; y++) {
    double a = 0;
    for (int x = 0; x < W; x++) {
      a += in[y][x];
      columns[x] += in[y][x];
    }
    rows[y] = a;
  }
}
