"""`pushrank fit`: what it says, measures and saves."""

import json
import signal

import numpy as np
import pytest

from pushrank import PushRanker
from pushrank.cli.model_file import load
from pushrank.cli.preparation import _median
from pushrank.cli.progress import Progress


def test_the_report_is_a_table(call):
    result = call("fit claims.csv --target late --id id --top 10 -o m")
    assert result.exit_code == 0
    assert "held out, 5 folds" in result.stdout
    assert "positives in the first 10 " in result.stdout
    assert "2 of numbers, 1 of words: 6 coefficients" in result.stdout
    assert "above the optimum" in result.stdout
    assert "CONVERGED" in result.stdout


def test_what_was_decided_is_said_aloud(call):
    said = call("fit claims.csv --target late --drop id -o m --folds 0").stderr
    assert "late = yes belongs at the top: " in said
    assert "(--positive no turns that round)" in said
    assert "column age: 3 missing values filled by the training median." in said
    assert "words become columns of 0 and 1, one for each word: city." in said


def test_a_column_of_ids_is_pointed_out(call):
    said = call("fit claims.csv --words id --target late -o m --folds 0").stderr
    assert "column id holds 60 different words in 60 rows" in said
    assert "--drop id" in said


def test_json_agrees_with_the_model(call, folder):
    result = call("fit claims.csv --target late --id id --top 10 -o m --json")
    values = json.loads(result.stdout)
    model = load("m")
    assert values["rows"] == 60
    assert values["status"] == "CONVERGED"
    assert values["objective"] == model.ranker.objective_
    assert values["coefficients"] == model.ranker.coef_.size == 6
    assert values["numbers"] == ["age", "amount"]
    assert values["words"] == ["city"]
    assert values["held_out"]["folds"] == 5
    assert 0 <= values["held_out"]["precision_at_k"] <= 1
    assert model.budget == 10
    assert not hasattr(model.ranker, "_skl_callbacks")


def test_the_other_label_can_be_pushed(call):
    one = json.loads(call("fit claims.csv --target late --id id -o m --json --folds 0").stdout)
    other = call("fit claims.csv --target late --id id --positive no -o m --json --folds 0")
    turned = json.loads(other.stdout)
    assert turned["positive_label"] == "no"
    assert turned["positives"] == 60 - one["positives"]
    assert "turns that round" not in other.stderr


def test_one_label_of_many_against_all_others(call):
    result = call("fit claims.csv --target city --positive Rome --id id -o m --json --folds 0")
    assert json.loads(result.stdout)["positive_label"] == "Rome"
    assert "all others below it" in result.stderr


def test_labels_may_be_numbers(call, folder, write_csv, claims):
    write_csv(folder / "n.csv", [[*row[:4], str(int(row[4] == "yes"))] for row in claims])
    result = call("fit n.csv --target late --id id --positive 1.0 -o m --json --folds 0")
    assert json.loads(result.stdout)["positive_label"] == "1"


@pytest.mark.parametrize(
    ("options", "push"),
    [
        ("-p 4", "Power(p=4.0)"),
        ("--loss logistic --push soft_top -p 3", "SoftTop(p=3.0, at_least=None)"),
        ("--loss squared_hinge --push identity", "Identity()"),
    ],
)
def test_losses_and_pushes_by_name(call, options, push):
    result = call(f"fit claims.csv --target late --id id --folds 0 --json -o m {options}")
    assert json.loads(result.stdout)["push"] == push
    load("m")


def test_a_weight_of_two_equals_the_row_twice(call, folder, write_csv, claims):
    rows = claims
    twice = [i % 3 == 0 for i in range(len(rows))]
    write_csv(
        folder / "w.csv",
        [[*row, "2" if t else "1"] for row, t in zip(rows, twice, strict=True)],
        ["id", "age", "amount", "city", "late", "w"],
    )
    write_csv(folder / "r.csv", [row for row, t in zip(rows, twice, strict=True) for _ in range(1 + t)])
    options = "--target late --id id --folds 0 --top 7 --tol 1e-10 -o"
    weighted = call(f"fit w.csv --weights w {options} weighted")
    assert weighted.exit_code == 0
    assert "% of the weight" in weighted.stdout
    call(f"fit r.csv {options} repeated")
    # 1e-4: both stop within 1e-10 of the same optimum, whose curvature is at least 1/C = 1.
    np.testing.assert_allclose(load("weighted").ranker.coef_, load("repeated").ranker.coef_, atol=1e-4)
    one, other = load("weighted").preparation, load("repeated").preparation
    # Sums of eighty numbers of order one, in two orders.
    np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=1e-12)


@pytest.mark.parametrize("top", ["", "--top 7", "--top 70", "--top 10%", "--top 500"])
def test_reports_on_weights_equal_those_on_repeated_rows(call, folder, write_csv, claims, top):
    weights = [1 + (i % 3 == 0) for i in range(60)]
    header = ["id", "age", "amount", "city", "late", "w"]
    write_csv(folder / "w.csv", [[*row, str(w)] for row, w in zip(claims, weights, strict=True)], header)
    write_csv(folder / "r.csv", [row for row, w in zip(claims, weights, strict=True) for _ in range(w)])
    options = f"--target late --id id --folds 0 {top} --json"
    by_weight = call(f"fit w.csv --weights w {options} -o weighted")
    by_rows = call(f"fit r.csv {options} -o repeated")
    one, other = json.loads(by_weight.stdout), json.loads(by_rows.stdout)
    assert (one["rows"], other["rows"], one["weight"], one["top"]) == (60, 80, 80, other["top"])
    assert ("more than the total weight 80 of w.csv; all" in by_weight.stderr) == (top == "--top 500")
    # Equal but for the rounding of sums in another order, and what that does to the same few steps.
    for part in ("training", "by_chance"):
        assert one[part] == pytest.approx(other[part], rel=1e-12)
    for name in ("objective", "effective_losers", "weight"):
        assert one[name] == pytest.approx(other[name], rel=1e-9)
    asked = json.loads(call("evaluate w.csv --weights w --model weighted --json").stdout)
    repeated = json.loads(call("evaluate r.csv --model repeated --json").stdout)
    assert asked["measures"] == pytest.approx(repeated["measures"], rel=1e-12)
    assert (asked["weight"], asked["top"]) == (80, one["top"])
    for name, value in one["training"].items():
        assert asked["measures"][name] == value


def test_small_weights_count_as_they_are(call, folder, write_csv, claims):
    header = ["id", "age", "amount", "city", "late", "w"]
    write_csv(folder / "w.csv", [[*row, "0.01"] for row in claims], header)
    for options in ("--top 20", "--top 10%", ""):
        fitted = call(f"fit w.csv --weights w --target late --id id --folds 3 {options} -o m --json")
        assert fitted.exit_code == 0, fitted.stderr
        asked = call("evaluate w.csv --weights w --model m --json")
        assert asked.exit_code == 0, asked.stderr
        values = json.loads(asked.stdout)
        assert values["weight"] == pytest.approx(0.6)
        assert values["top"] == {"--top 20": pytest.approx(0.6), "--top 10%": 0.1, "": 0.05}[options]
        for result in (fitted, asked):
            said = "k = 20 is more than the total weight 0.6 of w.csv; all are counted."
            assert (said in result.stderr) == (options == "--top 20")
        shown = call(f"fit w.csv --weights w --target late --id id --folds 0 {options} -o m").stdout
        places = {"--top 20": "0.6", "--top 10%": "0.06", "": "0.03"}[options]
        assert f"positives in the first {places} " in shown


def test_rows_of_weight_zero_are_left_out(call, folder, write_csv, claims):
    rows = [[*row, str(int(i >= 10))] for i, row in enumerate(claims)]
    write_csv(folder / "w.csv", rows, ["id", "age", "amount", "city", "late", "w"])
    result = call("fit w.csv --weights w --target late --id id --folds 0 --json -o m")
    assert json.loads(result.stdout)["rows"] == 50
    assert "10 rows of weight 0 left out." in result.stderr


def test_the_median_is_that_of_repeated_rows():
    draw = np.random.default_rng(0)
    for n in range(1, 40):
        column, weight = draw.integers(0, 9, n).astype(float), draw.integers(1, 4, n)
        assert _median(column, weight.astype(float)) == np.median(np.repeat(column, weight))
    assert _median(np.array([np.nan, 3.0]), np.array([5.0, 1.0])) == 3.0
    assert _median(np.array([np.nan]), np.ones(1)) == _median(np.array([np.nan]), None) == 0.0


def test_a_missing_header_is_asked_for(call, folder):
    rows = "".join(f"{i},{i % 7},{i % 2}\n" for i in range(30))
    (folder / "t.csv").write_text("30,2,9\n" + rows)
    said = call("fit t.csv --target 9 --folds 0 -o m").stderr
    assert "warning: All columns of t.csv are named by numbers (30, 2, 9): is the header missing?" in said
    assert "is the header missing?" in call("rank t.csv --model m").stderr
    (folder / "t.csv").write_text("30,b,9\n" + rows)
    assert "is the header missing?" not in call("fit t.csv --target 9 --folds 0 -o m").stderr


def test_empty_and_constant_columns_are_named(call, folder, write_csv, claims):
    rows = [[*row, "", "7", "x"] for row in claims]
    write_csv(folder / "e.csv", rows, ["id", "age", "amount", "city", "late", "gap", "seven", "ex"])
    result = call("fit e.csv --target late --id id --folds 0 -o m")
    assert "empty in every row and left out: gap." in result.stderr
    assert "so no help to a ranking: seven, ex." in result.stderr


def test_small_classes_skip_the_held_out_check(call, folder, write_csv, claims):
    few = [row for row in claims if row[4] == "no"][:8] + [row for row in claims if row[4] == "yes"][:3]
    write_csv(folder / "few.csv", few)
    result = call("fit few.csv --target late --id id -o m --top 40")
    assert result.exit_code == 0
    assert "no held-out check: the smaller class has 3 rows, fewer than the 5 folds." in result.stderr
    assert "k = 40 is more than the 11 rows of few.csv; all are counted." in result.stderr
    assert "positives in the first 11 " in result.stdout
    again = call("fit few.csv --target late --id id -o m")
    assert "positives in the first 1 " in again.stdout


def test_folds_are_deterministic(call):
    runs = [call("fit claims.csv --target late --id id -o m --json").stdout for _ in range(2)]
    assert runs[0] == runs[1]


def test_warnings_are_plain_sentences(call):
    result = call("fit claims.csv --target late --id id --folds 0 --max-iter 1 --tol 1e-9 -o m")
    assert result.exit_code == 0
    assert "pushrank: warning: PushRanker stopped after 1 iterations" in result.stderr
    assert "ConvergenceWarning" not in result.stderr
    assert ".py:" not in result.stderr


def test_a_risk_without_certificate_says_so(call):
    result = call("fit claims.csv --target late --id id --folds 0 --push quantile -o m --json")
    assert json.loads(result.stdout)["gap"] is None
    table = call("fit claims.csv --target late --id id --folds 0 --push quantile -o m").stdout
    assert "its distance to the optimum is not known" in table


def test_ctrl_c_saves_the_best_model_so_far(call, folder, monkeypatch):
    def press(self, estimator, context, *, metadata=None):
        if metadata and metadata.get("iteration") == 1:
            signal.raise_signal(signal.SIGINT)
        return False

    monkeypatch.setattr(Progress, "on_fit_task_end", press)
    result = call("fit claims.csv --target late --id id --tol 1e-9 -o m")
    assert result.exit_code == 0
    assert "because it was stopped, at most " in result.stderr
    assert "no held-out check: the fit was stopped by the keyboard." in result.stderr
    assert "STOPPED" in result.stdout
    assert load("m").ranker.status_ == "STOPPED"


@pytest.mark.parametrize("how", ["status", "second"])
def test_a_stop_during_the_held_out_check_keeps_the_model(call, folder, monkeypatch, how):
    whole = PushRanker.fit

    def stopped_later(self, X, y, **kwargs):
        whole(self, X, y, **kwargs)
        if len(X) < 60:
            if how == "second":
                raise KeyboardInterrupt
            self.status_ = "STOPPED"
        return self

    monkeypatch.setattr(PushRanker, "fit", stopped_later)
    result = call("fit claims.csv --target late --id id -o m")
    assert result.exit_code == 0
    assert "it was stopped by the keyboard; the model was saved before." in result.stderr
    assert load("m").ranker.status_ == "CONVERGED"


def test_a_second_interrupt_writes_nothing(refused, folder, monkeypatch):
    def interrupted(self, X, y, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(PushRanker, "fit", interrupted)
    assert refused("fit claims.csv --target late -o m", 1).startswith("Stopped by the keyboard")
    assert not (folder / "m").exists()


def test_svmlight_from_fit_to_list(call, folder):
    draw = np.random.default_rng(0)
    lines = []
    for i in range(40):
        x = draw.normal(size=3).round(3)
        lines.append(f"{int(x[0] > 0)} qid:1 0:{x[0]} 2:{x[1] + 5} 4:{x[2] if i % 2 else 0}")
    (folder / "t.svm").write_text("\n".join(lines) + "\n")
    (folder / "narrow.svm").write_text("1 0:0.5\n0 0:-2.5\n")
    (folder / "wide.svm").write_text("1 0:0.5 9:1\n0 0:-2.5 9:1\n")
    fitted = call("fit t.svm -o m --folds 2")
    assert fitted.exit_code == 0, fitted.output
    assert "5 of an svmlight file: 5 coefficients" in fitted.stdout
    assert "qid is not used" in fitted.stderr
    wide, narrow = call("rank wide.svm --model m"), call("rank narrow.svm --model m")
    assert wide.stdout == narrow.stdout
    assert "Indices above those met in training (highest 4) are ignored." in wide.stderr
    assert narrow.stdout.splitlines()[1].startswith("1,1,")
    assert call("evaluate t.svm --model m --json").exit_code == 0


def test_a_share_is_of_any_total():
    import numpy as np

    from pushrank.cli.tables import FirstPlaces

    places = FirstPlaces.of(0.2, 10, np.full(10, 1e-6), "t.csv")
    assert places.is_share
    assert not places.is_all
    assert str(places) == "the first 20%"
