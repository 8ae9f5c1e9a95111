"""Bar charts in SVG: how many times faster than clang programs are, on a scale of powers of two."""
import math

COLORS = {"polly": "#9aa5b1", "loop-fusion": "#c3ccd5", "gcc": "#b08968", "mlir-opt": "#8d99ae",
          "OpenBLAS": "#6d597a", "fveclib": "#4a6fa5", "fuse": "#74c69d", "optimize": "#2d6a4f", "for this machine": "#1b4332",
          "by hand": "#e9c46a"}
LEFT, WIDTH, BAR, GAP, TOP = 130, 520, 7, 8, 58


def bars(title, rows, columns):
    """Returns the chart of these rows: a bar for each column, with its interval."""
    most = max([2.0, *(own["high"] for row in rows for own in row["ways"].values())])
    least = min([0.5, *(own["low"] for row in rows for own in row["ways"].values())])
    first, last = math.floor(math.log2(least)), math.ceil(math.log2(most))
    place = lambda ratio: LEFT + WIDTH * (math.log2(max(ratio, 2.0**first)) - first) / (last - first)
    height = TOP + len(rows) * (len(columns) * BAR + GAP) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 40} {height}" '
           f'font-family="sans-serif" font-size="11" role="img">',
           f"<title>{title}: times faster than clang -O3</title>",
           f'<rect width="100%" height="100%" fill="#ffffff"/>']
    for number, way in enumerate(columns):
        x, y = LEFT + 130 * (number % 4), 8 + 15 * (number // 4)
        out.append(f'<rect x="{x}" y="{y}" width="9" height="9" fill="{COLORS.get(way, "#555555")}"/>')
        out.append(f'<text x="{x + 13}" y="{y + 9}">{way}</text>')
    for power in range(first, last + 1):
        x = place(2.0**power)
        color = "#333333" if power == 0 else "#dddddd"
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{height - 6}" stroke="{color}"/>')
        label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        out.append(f'<text x="{x:.1f}" y="{TOP - 8}" text-anchor="middle">{label}</text>')
    y = TOP
    for row in rows:
        middle = y + len(columns) * BAR / 2 + 4
        out.append(f'<text x="{LEFT - 6}" y="{middle:.1f}" text-anchor="end">{row["name"]}</text>')
        for way in columns:
            if way in row["ways"]:
                own = row["ways"][way]
                one, end = place(1.0), place(own["ratio"])
                out.append(f'<rect x="{min(one, end):.1f}" y="{y}" width="{max(abs(end - one), 0.5):.1f}" '
                           f'height="{BAR - 1}" fill="{COLORS.get(way, "#555555")}">'
                           f'<title>{row["name"]}, {way}: {own["ratio"]:.2f}</title></rect>')
                low, high, center = place(own["low"]), place(own["high"]), y + (BAR - 1) / 2
                out.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{center}" y2="{center}" stroke="#000000"/>')
            y += BAR
        y += GAP
    return "\n".join([*out, "</svg>", ""])
