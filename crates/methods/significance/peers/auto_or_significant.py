"""`-k auto` beside `-k significant` on the families of `partita synth`, of twice their usual number of objects.

`python auto_or_significant.py PARTITA SEED [FAMILY ...]` runs the program PARTITA and prints for every group of families the mean adjusted Rand
index, and how often the number of clusters is that of the truth.
"""

import csv
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path


def main(program: str, seed: str, wanted: list[str]) -> None:
    def said(*words: str) -> str:
        done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return done.stdout

    families = [line.split() for line in said("synth", "--list").splitlines()[1:] if line.strip()]
    found = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "t.csv", Path(folder) / "out"
        for name, *words in families:
            at = next(place for place, word in enumerate(words) if word.isdigit())
            if wanted and name not in wanted:
                continue
            said("synth", name, "-n", str(2 * int(words[at])), "--seed", seed, "-o", str(table), "--force")
            labels = {row["label"] for row in csv.DictReader(table.open())} - {""}
            for k in ("auto", "significant"):
                said("run", str(table), "--truth", "label", "-k", k, "-o", str(out), "--no-report", "--force")
                scores = said("evaluate", f"{out}/labels.csv:label", "--truth", f"{table}:label", "--json")
                record = json.loads((out / "record.json").read_text())
                clusters = record["methods"][0]["clusters"]
                found[" ".join(words[:at]), k].append((json.loads(scores)["ari"], clusters == len(labels)))
            print(name, *(found[" ".join(words[:at]), k][-1] for k in ("auto", "significant")), file=sys.stderr, flush=True)
    print(f"{'group':<18} {'tables':>6} {'auto':>6} {'K right':>8} {'significant':>12} {'K right':>8}")
    groups = list(dict.fromkeys(group for group, _ in found))
    for group in [*groups, "all"]:
        cells = []
        for k in ("auto", "significant"):
            some = [pair for (of, asked), pairs in found.items() if asked == k and group in (of, "all") for pair in pairs]
            cells += [sum(ari for ari, _ in some) / len(some), sum(right for _, right in some) / len(some)]
        print(f"{group:<18} {len(some):>6} {cells[0]:>6.3f} {cells[1]:>8.2f} {cells[2]:>12.3f} {cells[3]:>8.2f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
