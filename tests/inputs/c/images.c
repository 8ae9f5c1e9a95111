// Images: rows of pixels with a stride, planes and channels.
#include <stddef.h>
#include <stdint.h>

void invert(uint8_t *pixels, int width, int height) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      pixels[y * width + x] = 255 - pixels[y * width + x];
}

void invert_strided(uint8_t *pixels, int width, int height, ptrdiff_t stride) {
  for (int y = 0; y < height; y++) {
    uint8_t *row = pixels + y * stride;
    for (int x = 0; x < width; x++)
      row[x] = ~row[x];
  }
}

void gray(uint8_t *restrict to, const uint8_t *rgb, int n) {
  for (int i = 0; i < n; i++)
    to[i] = (uint8_t)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}

void swap_channels(uint8_t *rgba, size_t pixels) {
  for (size_t i = 0; i < pixels; i++) {
    uint8_t r = rgba[4 * i];
    rgba[4 * i] = rgba[4 * i + 2];
    rgba[4 * i + 2] = r;
  }
}

void threshold(uint8_t *restrict to, const uint8_t *from, unsigned n, uint8_t at) {
  for (unsigned i = 0; i < n; i++)
    to[i] = from[i] >= at ? 255 : 0;
}

void blur_horizontal(float *restrict to, const float *from, int width, int height) {
  for (int y = 0; y < height; y++)
    for (int x = 1; x < width - 1; x++)
      to[y * width + x] =
          (from[y * width + x - 1] + from[y * width + x] + from[y * width + x + 1]) / 3;
}

void blur_vertical(float *restrict to, const float *from, int width, int height) {
  for (int y = 1; y < height - 1; y++)
    for (int x = 0; x < width; x++)
      to[y * width + x] =
          (from[(y - 1) * width + x] + from[y * width + x] + from[(y + 1) * width + x]) / 3;
}

void box_blur(uint8_t *restrict to, const uint8_t *from, int width, int height) {
  for (int y = 1; y < height - 1; y++)
    for (int x = 1; x < width - 1; x++) {
      int s = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          s += from[(y + dy) * width + x + dx];
      to[y * width + x] = (uint8_t)(s / 9);
    }
}

void convolve(float *restrict to, const float *from, int width, int height, const float *kernel,
              int radius) {
  int size = 2 * radius + 1;
  for (int y = radius; y < height - radius; y++)
    for (int x = radius; x < width - radius; x++) {
      float s = 0;
      for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
          s += kernel[j * size + i] * from[(y + j - radius) * width + x + i - radius];
      to[y * width + x] = s;
    }
}

void sobel(int16_t *restrict to, const uint8_t *p, int w, int h) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      const uint8_t *q = p + y * w + x;
      to[y * w + x] = (int16_t)(q[1 - w] + 2 * q[1] + q[1 + w] - q[-1 - w] - 2 * q[-1] - q[w - 1]);
    }
}

void halve(uint8_t *restrict to, const uint8_t *from, int width, int height) {
  for (int y = 0; y < height / 2; y++)
    for (int x = 0; x < width / 2; x++) {
      const uint8_t *p = from + 2 * y * width + 2 * x;
      to[y * (width / 2) + x] = (uint8_t)((p[0] + p[1] + p[width] + p[width + 1] + 2) / 4);
    }
}

void flip_vertical(uint32_t *pixels, int width, int height) {
  for (int y = 0; y < height / 2; y++)
    for (int x = 0; x < width; x++) {
      uint32_t t = pixels[y * width + x];
      pixels[y * width + x] = pixels[(height - 1 - y) * width + x];
      pixels[(height - 1 - y) * width + x] = t;
    }
}

void flip_horizontal(uint16_t *pixels, int width, int height) {
  for (int y = 0; y < height; y++)
    for (int l = 0, r = width - 1; l < r; l++, r--) {
      uint16_t t = pixels[y * width + l];
      pixels[y * width + l] = pixels[y * width + r];
      pixels[y * width + r] = t;
    }
}

void rotate_quarter(uint32_t *restrict to, const uint32_t *from, int width, int height) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      to[x * height + height - 1 - y] = from[y * width + x];
}

void blend(uint8_t *restrict to, const uint8_t *a, const uint8_t *b, int n, int alpha) {
  for (int i = 0; i < n; i++)
    to[i] = (uint8_t)((a[i] * alpha + b[i] * (255 - alpha)) / 255);
}

void integral(uint32_t *restrict sums, const uint8_t *from, int width, int height) {
  for (int y = 0; y < height; y++) {
    uint32_t row = 0;
    for (int x = 0; x < width; x++) {
      row += from[y * width + x];
      sums[y * width + x] = row + (y > 0 ? sums[(y - 1) * width + x] : 0);
    }
  }
}

void fill_rectangle(uint8_t *p, int stride, int x0, int y0, int x1, int y1, uint8_t color) {
  for (int y = y0; y < y1; y++)
    for (int x = x0; x < x1; x++)
      p[y * stride + x] = color;
}

void palette(uint32_t *restrict to, const uint8_t *from, int n, const uint32_t *colors) {
  for (int i = 0; i < n; i++)
    to[i] = colors[from[i]];
}

void planes(uint8_t *restrict r, uint8_t *restrict g, uint8_t *restrict b, const uint8_t *rgb,
            int width, int height, int stride) {
  for (int y = 0; y < height; y++) {
    const uint8_t *p = rgb + (long)y * stride;
    for (int x = 0; x < width; x++, p += 3) {
      r[y * width + x] = p[0];
      g[y * width + x] = p[1];
      b[y * width + x] = p[2];
    }
  }
}

void dilate(uint8_t *restrict to, const uint8_t *from, int w, int h) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      uint8_t m = 0;
      for (int k = 0; k < 9; k++) {
        uint8_t v = from[(y + k / 3 - 1) * w + x + k % 3 - 1];
        m = v > m ? v : m;
      }
      to[y * w + x] = m;
    }
}

void gradient(float *p, int w, int h) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      p[y * w + x] = (float)(x + y) / (float)(w + h);
}
