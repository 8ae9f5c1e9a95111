// Sixteen kernels of image, physics and data processing, as one writes them first: a loop nest for
// each step. H rows, W columns, P points. `kernels_by_hand.c` has the same, fused and tiled by hand.

// An image minus its blurred copy.
void sharpen(float in[restrict H][W], float blurred[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 1; x < W - 1; x++)
      blurred[y][x] = (in[y][x - 1] + in[y][x] + in[y][x + 1]) / 3;
  for (int y = 0; y < H; y++)
    for (int x = 1; x < W - 1; x++)
      out[y][x] = 2 * in[y][x] - blurred[y][x];
}

// Gray values of three planes, and their threshold.
void gray_threshold(float r[restrict H][W], float g[restrict H][W], float b[restrict H][W],
                    float gray[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      gray[y][x] = 0.299f * r[y][x] + 0.587f * g[y][x] + 0.114f * b[y][x];
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      out[y][x] = gray[y][x] > 0.5f ? 1.0f : 0.0f;
}

// Two gradients of an image, and the square of their length.
void gradients(float in[restrict H][W], float gx[restrict H][W], float gy[restrict H][W],
               float out[restrict H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      gx[y][x] = in[y][x + 1] - in[y][x - 1];
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      gy[y][x] = in[y + 1][x] - in[y - 1][x];
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      out[y][x] = gx[y][x] * gx[y][x] + gy[y][x] * gy[y][x];
}

// A brighter image, blended with another one.
void blend(float a[restrict H][W], float b[restrict H][W], float bright[restrict H][W],
           float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      bright[y][x] = a[y][x] * (2 - a[y][x]);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      out[y][x] = 0.75f * bright[y][x] + 0.25f * b[y][x];
}

// A blur along columns of what was blurred along rows.
void blur(float in[restrict H][W], float rows[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 1; x < W - 1; x++)
      rows[y][x] = (in[y][x - 1] + in[y][x] + in[y][x + 1]) / 3;
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      out[y][x] = (rows[y - 1][x] + rows[y][x] + rows[y + 1][x]) / 3;
}

// Rows with the mean 0.
void center(float in[restrict H][W], float mean[restrict H], float out[restrict H][W]) {
  for (int y = 0; y < H; y++) {
    mean[y] = 0;
    for (int x = 0; x < W; x++)
      mean[y] += in[y][x];
  }
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      out[y][x] = in[y][x] - mean[y] / W;
}

// A step of heat in a plate, and its copy.
void heat(double u[restrict H][W], double next[restrict H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      next[y][x] = u[y][x] + 0.1 * (u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1] - 4 * u[y][x]);
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      u[y][x] = next[y][x];
}

// A step of a wave, damped.
void wave(double u[restrict H][W], double before[restrict H][W], double next[restrict H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 0; x < W; x++)
      next[y][x] = 2 * u[y][x] - before[y][x] + 0.2 * (u[y - 1][x] + u[y + 1][x] - 2 * u[y][x]);
  for (int y = 1; y < H - 1; y++)
    for (int x = 0; x < W; x++)
      next[y][x] *= 0.99;
  for (int y = 1; y < H - 1; y++)
    for (int x = 0; x < W; x++)
      before[y][x] = u[y][x];
}

// Transport along rows, then along columns.
void transport(double c[restrict H][W], double t[restrict H][W], double out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 1; x < W; x++)
      t[y][x] = c[y][x] - 0.3 * (c[y][x] - c[y][x - 1]);
  for (int y = 1; y < H; y++)
    for (int x = 1; x < W; x++)
      out[y][x] = t[y][x] - 0.2 * (t[y][x] - t[y - 1][x]);
}

// A step of points on springs: forces, velocities, places.
void springs(double at[restrict P], double v[restrict P], double f[restrict P], double rest[restrict P]) {
  for (int i = 0; i < P; i++)
    f[i] = 0.5 * (rest[i] - at[i]);
  for (int i = 0; i < P; i++)
    v[i] = 0.999 * v[i] + 0.01 * f[i];
  for (int i = 0; i < P; i++)
    at[i] += 0.01 * v[i];
}

// The divergence of a flow, and the pressure that it makes.
void pressure(double u[restrict H][W], double v[restrict H][W], double d[restrict H][W],
              double p[restrict H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      d[y][x] = u[y][x + 1] - u[y][x - 1] + v[y + 1][x] - v[y - 1][x];
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++)
      p[y][x] = 0.9 * p[y][x] - 0.25 * d[y][x];
}

// The energy of particles: kinetic, potential, and both.
void energy(double v[restrict P], double h[restrict P], double kinetic[restrict P],
            double potential[restrict P], double all[restrict P]) {
  for (int i = 0; i < P; i++)
    kinetic[i] = 0.5 * v[i] * v[i];
  for (int i = 0; i < P; i++)
    potential[i] = 9.81 * h[i];
  for (int i = 0; i < P; i++)
    all[i] = kinetic[i] + potential[i];
}

// Columns scaled and shifted, then clipped.
void standardize(float in[restrict H][W], float shift[restrict W], float scale[restrict W],
                 float t[restrict H][W], float out[restrict H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      t[y][x] = (in[y][x] - shift[x]) * scale[x];
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      out[y][x] = t[y][x] > 1 ? 1 : t[y][x] < -1 ? -1 : t[y][x];
}

// Differences of prices, their squares, and a weighted sum of both.
void returns(double price[restrict P], double r[restrict P], double s[restrict P], double out[restrict P]) {
  for (int i = 0; i < P - 1; i++)
    r[i] = price[i + 1] - price[i];
  for (int i = 0; i < P - 1; i++)
    s[i] = r[i] * r[i];
  for (int i = 0; i < P - 1; i++)
    out[i] = 0.1 * r[i] - 0.01 * s[i];
}

// Squared distances of rows from a center, and their weights.
void weights(float in[restrict H][W], float center[restrict W], float d[restrict H],
             float w[restrict H]) {
  for (int y = 0; y < H; y++)
    d[y] = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      d[y] += (in[y][x] - center[x]) * (in[y][x] - center[x]);
  for (int y = 0; y < H; y++)
    w[y] = 1 / (1 + d[y]);
}

// Sums of rows, and sums of columns.
void margins(double in[restrict H][W], double rows[restrict H], double columns[restrict W]) {
  for (int y = 0; y < H; y++)
    rows[y] = 0;
  for (int x = 0; x < W; x++)
    columns[x] = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      rows[y] += in[y][x];
  for (int x = 0; x < W; x++)
    for (int y = 0; y < H; y++)
      columns[x] += in[y][x];
}
