{ S[i] : 0 <= i < 10 }
[n] -> { S[i, j] : 0 <= i < n and j mod 4 = i % 3 }
[n, m] -> { S[i] -> A[2i + 1] : 0 <= i < n and exists (e: i = 3e and e <= m) }
{ [x, y] : 6x + 10y = 15 or not (x < y) }
{ [i] -> [j] : j = floor((3*i + 1)/7) and i >= min(j, 2) }
{ [i, j] : i, j >= 0 and i, j << 3, 4 }
{ A[i, i + 1, 5] }
{ : }
[n] -> { : n > 0 }
{ S[]; S[] }
{ [i = 3, j] -> [j, i, ceil(i/2)] : i != j implies i > 2 }
{ [x] : 99999999999999999999999999x <= 123456789012345678901234567890 }
{ S[i] -> T[j] : 1 <= i <= j <= 5; S[i] -> T[-i] : i >= 0 }
[n] -> { S[i] : exists e0, e1: i = 2e0 + 3e1 and 0 <= e0, e1 <= n }
