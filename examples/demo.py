"""The main job on shipped data: fit, rank, evaluate, one picture. Run by `make demo`.

The spam filter's question: which mails can go to the junk folder without a look?
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PushRanker, SoftTop
from pushrank.datasets import load_spambase, shipped_table, write_table
from pushrank.metrics import average_precision

BUDGET = 500
SPLITS = 10
OUTPUT = Path("demo-output")
INK, ACCENT, GREY = "#1b1f24", "#c2410c", "#6b7280"


def main() -> None:
    """Fit a push and a logistic regression, compare the first places, draw them."""
    OUTPUT.mkdir(exist_ok=True)
    X, y = load_spambase(return_X_y=True)
    X = np.log1p(10 * X)
    models = {
        "PushRanker": PushRanker("logistic", SoftTop(2), C=3),
        "logistic regression": LogisticRegression(C=0.1, max_iter=1000),
    }
    splits = StratifiedShuffleSplit(SPLITS, test_size=0.5, random_state=0)
    wrong = {name: np.zeros((SPLITS, 2 * BUDGET + 1)) for name in models}
    precision = {name: np.zeros(SPLITS) for name in models}
    seconds = dict.fromkeys(models, 0.0)
    for split, (train, test) in enumerate(splits.split(X, y)):
        for name, model in models.items():
            start = time.perf_counter()
            fitted = make_pipeline(StandardScaler(), model).fit(X[train], y[train])
            seconds[name] += (time.perf_counter() - start) / SPLITS
            scores = fitted.decision_function(X[test])
            best = np.argsort(-scores, kind="stable")[: 2 * BUDGET]
            wrong[name][split, 1:] = np.cumsum(1 - y[test][best])
            precision[name][split] = average_precision(y[test], scores)

    print(f"spambase: {len(y):,} mails, {int(y.sum()):,} of them spam. Half to learn from, half to judge by,")
    print(
        f"{SPLITS} times. You act on the first {BUDGET} of {len(test):,}: how many good mails are among them?"
    )
    print()
    print(f"{'':<22}{'good mails among':>18}{'average':>12}{'seconds':>10}")
    print(f"{'':<22}{f'the first {BUDGET}':>18}{'precision':>12}{'to fit':>10}")
    for name in models:
        lost = wrong[name][:, BUDGET].mean()
        print(f"{name:<22}{lost:>18.1f}{precision[name].mean():>12.3f}{seconds[name]:>10.2f}")
    spared = wrong["logistic regression"][:, BUDGET] - wrong["PushRanker"][:, BUDGET]
    ranker = models["PushRanker"]
    print(
        f"\nThe push spares {spared.mean():.1f} good mails (better in {(spared > 0).sum()}, worse in "
        f"{(spared < 0).sum()} of {SPLITS} halves) and pays for it\nfurther down, where nobody looks. "
        "That is the trade. The halves overlap, so read"
    )
    print("it as a hint, not as proof, and compare on your own data.")
    print(
        f"The last fit is certified: at most {ranker.duality_gap_:.0e} above the best it could be. "
        f"{ranker.effective_losers_:.0%} of\nthe good mails carry the push."
    )
    picture = draw(wrong, OUTPUT / "top-of-the-list.png")
    write_table(OUTPUT / "spambase.csv", shipped_table("spambase").columns)
    print(f"\nPicture: {picture}\nThe same from the shell:")
    shell = Path(os.path.relpath(Path(sys.executable).parent)) / "pushrank"
    print(f"  {shell} fit {OUTPUT}/spambase.csv --target target --top {BUDGET} -o {OUTPUT}/spam.model")
    print(
        f"  {shell} rank {OUTPUT}/spambase.csv --model {OUTPUT}/spam.model --top {BUDGET} "
        f"-o {OUTPUT}/list.csv"
    )


def draw(wrong: dict[str, np.ndarray], path: Path) -> Path:
    """Good mails among the mails acted on, near the top of the list: the mean over the splits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (near, far) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained", width_ratios=(3, 2))
    acted = np.arange(2 * BUDGET + 1)
    for axes, reach, title in ((near, BUDGET + 100, "near the top"), (far, 2 * BUDGET, "further down")):
        for (name, counts), color, style in zip(
            wrong.items(), (ACCENT, INK), ("-", (0, (5, 2))), strict=True
        ):
            mean = counts.mean(axis=0)[: reach + 1]
            axes.plot(acted[: reach + 1], mean, color=color, linestyle=style, linewidth=2, label=name)
        axes.axvline(BUDGET, color=GREY, linewidth=1)
        axes.set(xlim=(0, reach), xlabel="mails acted on, best first")
        axes.set_ylim(bottom=0)
        axes.set_title(title, loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
    budget = {"va": "top", "ha": "right", "color": GREY, "transform": near.get_xaxis_transform()}
    near.text(BUDGET - 6, 0.99, f"budget: {BUDGET}", **budget)
    near.set_ylabel("good mails among them")
    near.legend(frameon=False, loc="upper left")
    figure.suptitle(
        f"What acting on the first mails costs: spambase, mean of {SPLITS} held-out halves", fontsize=12
    )
    figure.savefig(path, dpi=150)
    return path


if __name__ == "__main__":
    sys.exit(main())
