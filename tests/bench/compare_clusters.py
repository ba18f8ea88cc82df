"""Puts what bench_cluster and its yardstick printed side by side: a table, and a picture of the crashes."""
import json
import statistics
import sys


def read(path):
    found = {}
    for line in open(path):
        row = json.loads(line)
        found.setdefault(row["what"], []).append(row)
    return found


def seconds(x):
    return f"{x:.2f} s"


def join(run):
    row = run["join"][0]
    return seconds(row["all_see_all_s"]) if row["complete"] else f"not after {row['all_see_all_s']:.0f} s"


def spread(rows):
    if not rows:
        return "not measured"
    unknown = sum(not r["complete"] for r in rows)
    times = [r["all_s"] for r in rows if r["complete"]]
    if not times:
        return f"never, {unknown} of {len(rows)}"
    text = f"{statistics.median(times):.2f} / {max(times):.2f} s"
    return text + (f", {unknown} never" if unknown else "")


def memory(run):
    row = run["idle"][0]
    ring = row.get("ring_kib")
    if ring is None:
        return f"{row['rss_kib']:.0f} KiB"
    return f"{row['rss_kib'] - ring:.0f} KiB and {ring:.0f} KiB of ring"


def table(ours, theirs, members, loss):
    under = f", {loss} % loss" if loss != "0" else ""
    rows = [(f"all see all after {members} joins to one seed", join)]
    if "idle" in ours:
        rows += [
            ("idle, share of a core per member", lambda r: f"{r['idle'][0]['cpu_percent']:.3f} %"),
            ("idle, packets and bytes per member and second",
             lambda r: f"{r['idle'][0]['packets_per_s']:.1f}, {r['idle'][0]['bytes_per_s']:.0f}"),
            ("memory per member", memory)]
    rows += [("crash known to all survivors, median / worst", lambda r: spread(r.get("crash"))),
             ("the same, vanished host", lambda r: spread(r.get("mute"))),
             ("failures reported about healthy members", lambda r: str(r["end"][0]["wrong_failures"]))]
    print(f"| {members} members in one process{under} | lifering | memberlist |\n|---|---|---|")
    for what, of in rows:
        print(f"| {what} | {of(ours)} | {of(theirs)} |")


def plot(path, ours, theirs, members):
    """One strip for each program and kind of crash, a mark for each crash at the time when all knew it."""
    strips = [("all see all after the joins", "join", "all_see_all_s"), ("crash, host alive", "crash", "all_s"),
              ("crash, host gone", "mute", "all_s")]
    runs = [("lifering", "#0b6e4f", ours), ("memberlist", "#b3541e", theirs)]
    times = [r[key] for _, what, key in strips for _, _, run in runs for r in run.get(what, [])]
    width, left, step = 760, 210, 26
    end = max(times) * 1.05
    x = lambda t: left + (width - left - 20) * t / end
    out, y = [], 60
    out.append(f'<text x="12" y="28" font-size="16">{members} members: seconds until every member knows</text>')
    for title, what, key in strips:
        out.append(f'<text x="12" y="{y + 18}" font-weight="bold">{title}</text>')
        for name, colour, run in runs:
            out.append(f'<text x="{left - 12}" y="{y + 5}" text-anchor="end">{name}</text>')
            out.append(f'<line x1="{left}" y1="{y}" x2="{width - 20}" y2="{y}" stroke="#ddd"/>')
            for r in run.get(what, []):
                fill = colour if r["complete"] else "none"
                out.append(f'<circle cx="{x(r[key]):.1f}" cy="{y}" r="5" fill="{fill}" fill-opacity="0.6" '
                           f'stroke="{colour}"/>')
            y += step
        y += 18
    unit = next(u for u in (0.5, 1, 2, 5, 10, 20, 50, 100) if end / u <= 10)
    for i in range(int(end / unit) + 1):
        t = i * unit
        out.append(f'<line x1="{x(t):.1f}" y1="46" x2="{x(t):.1f}" y2="{y - 20}" stroke="#eee"/>')
        out.append(f'<text x="{x(t):.1f}" y="{y}" text-anchor="middle">{t:g} s</text>')
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 14}" font-family="sans-serif" '
                   f'font-size="12"><rect width="100%" height="100%" fill="white"/>' + "".join(out) + "</svg>\n")


if __name__ == "__main__":
    ours, theirs = read(sys.argv[1]), read(sys.argv[2])
    table(ours, theirs, sys.argv[3], sys.argv[4])
    if sys.argv[5]:
        plot(sys.argv[5], ours, theirs, sys.argv[3])
