// Sizes of the kernels, all different, so that a subscript too many is noticed.
enum { N = 24, M = 20, K = 18, L = 16, T = 5 };
