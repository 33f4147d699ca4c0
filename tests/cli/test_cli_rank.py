"""`pushrank rank`, `evaluate` and `datasets`."""

import csv
import io
import json

import numpy as np
import pytest

from pushrank import metrics
from pushrank.cli.model_file import load
from pushrank.datasets import list_datasets, load_wdbc, read_table


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_the_list_is_best_first_and_cut_at_the_budget(call, model, folder):
    result = call("rank claims.csv --model claims.model -o list.csv")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "5 of 60 rows (the --top of the fit) in list.csv, best first." in result.stderr
    rows = rows_of((folder / "list.csv").read_text())
    assert [row["place"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert all(len(row["id"]) == 4 for row in rows)
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    everything = rows_of(call("rank claims.csv --model claims.model --top 60").stdout)
    assert everything[:5] == rows
    assert len({row["id"] for row in everything}) == 60


def test_scores_are_those_of_the_ranker_and_reasons_add_up(call, model, claims):
    rows = rows_of(call("rank claims.csv --model claims.model --top 60 --reasons 9").stdout)
    fitted = load("claims.model")
    coef = fitted.ranker.coef_[0]
    table = read_table("claims.csv")
    X = fitted.preparation.transform(fitted.preparation.read(table))
    average = float(fitted.preparation.mean[0] @ coef) + fitted.ranker.intercept_
    assert set(rows[0]) == {"place", "id", "score", "reason_1", "reason_2", "reason_3"}
    for row in rows:
        i = int(row["id"])
        # rtol of a float64 written in full and read again, and of a sum in another order.
        assert float(row["score"]) == pytest.approx(X[i] @ coef + fitted.ranker.intercept_, rel=1e-9)
        reasons = [row[f"reason_{r}"] for r in (1, 2, 3)]
        moved = [float(text.rsplit("(", 1)[1].rstrip(")")) for text in reasons if text]
        # Three digits are written of each of three reasons.
        assert sum(moved) == pytest.approx(float(row["score"]) - average, abs=0.02)
        assert [abs(m) for m in moved] == sorted(map(abs, moved), reverse=True)
        names = {text.split(" = ")[0]: text.split(" = ")[1].split(" (")[0] for text in reasons if text}
        assert names["age"] == (claims[i][1] or "missing")
        assert names["city"] == claims[i][3]


def test_columns_go_by_name(call, model, folder, write_csv, claims):
    header = ["city", "late", "new", "amount", "id", "age"]
    turned = [[row[3], row[4], "z", row[2], row[0], row[1]] for row in claims]
    write_csv(folder / "turned.csv", turned, header)
    result = call("rank turned.csv --model claims.model")
    assert result.stdout == call("rank claims.csv --model claims.model").stdout
    assert "not in the model and ignored: new." in result.stderr
    assert "late" not in result.stderr


def test_unseen_words_count_as_none(call, model, folder, write_csv, claims):
    rows = [[*row[:3], "Oslo" if i < 2 else row[3], row[4]] for i, row in enumerate(claims)]
    write_csv(folder / "new.csv", rows)
    result = call("rank new.csv --model claims.model --top 60")
    assert result.exit_code == 0
    assert "column city: 2 words never met in training (first 'Oslo')" in result.stderr


def test_without_an_id_rows_are_numbered_from_one(call, folder, write_csv, claims):
    call("fit claims.csv --target late --drop id --folds 0 -o m")
    rows = rows_of(call("rank claims.csv --model m --reasons 0").stdout)
    assert set(rows[0]) == {"place", "row", "score"}
    assert sorted(int(row["row"]) for row in rows) == list(range(1, 61))
    named = rows_of(call("rank claims.csv --model m --reasons 0 --id id").stdout)
    assert [int(row["id"]) + 1 for row in named] == [int(row["row"]) for row in rows]


def test_an_id_may_be_called_score(call, model, folder, write_csv, claims):
    write_csv(folder / "s.csv", claims, ["score", "age", "amount", "city", "late"])
    rows = rows_of(call("rank s.csv --model claims.model --id score").stdout)
    assert list(rows[0])[:3] == ["place", "score", "score_"]


def test_equal_scores_stand_in_the_order_of_the_table(call, model, folder, write_csv, claims):
    write_csv(folder / "same.csv", [claims[0]] * 4)
    rows = rows_of(call("rank same.csv --model claims.model --id late").stdout)
    assert [row["place"] for row in rows] == ["1", "2", "3", "4"]
    call("fit claims.csv --target late --drop id --folds 0 -o m")
    rows = rows_of(call("rank same.csv --model m").stdout)
    assert [row["row"] for row in rows] == ["1", "2", "3", "4"]


def test_from_standard_input_to_parquet(call, model, folder):
    text = (folder / "claims.csv").read_text()
    result = call("rank - --model claims.model --top 10% -o list.parquet", input=text)
    assert result.exit_code == 0
    assert read_table("list.parquet").n_rows == 6
    assert call("rank - --model claims.model --top 99", input=text).stderr.count("more than the 60 rows") == 1


def test_many_words_make_a_sparse_matrix(call, folder, write_csv, claims):
    rows = [[*row[:3], f"street {i % 29}", row[4]] for i, row in enumerate(claims)]
    write_csv(folder / "wide.csv", rows)
    result = call("fit wide.csv --target late --drop id --drop age --drop amount --top 3 -o m")
    assert result.exit_code == 0, result.output
    ranked = rows_of(call("rank wide.csv --model m").stdout)
    assert len(ranked) == 3
    assert ranked[0]["reason_1"].startswith("city = street")


def test_evaluate_prints_the_measures_of_the_package(call, model, folder):
    values = json.loads(call("evaluate claims.csv --model claims.model --json").stdout)
    fitted, table = load("claims.model"), read_table("claims.csv")
    scores = fitted.ranker.decision_function(fitted.preparation.transform(fitted.preparation.read(table)))
    y = table.column("late") == "yes"
    assert values["top"] == 5
    assert values["measures"] == metrics.evaluate(y, scores, k=5)


def test_evaluate_a_column_of_scores(call, folder):
    result = call("evaluate claims.csv --target late --score amount --top 7 --weights amount --json")
    values = json.loads(result.stdout)
    table = read_table("claims.csv")
    amount = table.column("amount")
    y = table.column("late") == "yes"
    assert values["measures"] == metrics.evaluate(y, amount, k=7, sample_weight=amount)
    shown = call("evaluate claims.csv --target late --score amount")
    assert "the first 5% of the list is looked at" in shown.stderr
    assert "average_precision" in shown.stdout
    assert "share of the first k that is positive" in shown.stdout


def test_evaluate_counts_all_where_k_is_too_large(call, folder):
    result = call("evaluate claims.csv --target late --score amount --top 999 --json")
    assert json.loads(result.stdout)["top"] == 60
    assert "more than the 60 rows" in result.stderr


def test_evaluate_counts_weight_and_not_rows(call, folder):
    lines = [f"{i % 2},{i},{1 + (i > 0)}\n" for i in range(200)]
    (folder / "w.csv").write_text("y,s,w\n" + "".join(lines))
    result = call("evaluate w.csv --target y --score s --weights w --top 300 --json")
    values = json.loads(result.stdout)
    assert (values["top"], values["weight"], values["rows"]) == (300, 399, 200)
    assert values["measures"]["precision_at_k"] == pytest.approx(0.5)
    assert values["measures"]["recall_at_k"] == pytest.approx(150 / 200)
    assert "k = " not in result.stderr
    (folder / "s.csv").write_text("y,s,w\n" + "".join(f"{i % 2},{i},0.01\n" for i in range(200)))
    small = call("evaluate s.csv --target y --score s --weights w --top 20")
    assert small.exit_code == 0
    assert "k = 20 is more than the total weight 2 of s.csv; all are counted." in small.stderr
    assert "k is the whole of the list." in small.stderr


def test_evaluate_gives_k_to_those_that_need_one(call, folder):
    line = "evaluate claims.csv --target late --score amount --json --top"
    few, many = (json.loads(call(f"{line} {k}").stdout)["measures"] for k in (2, 40))
    assert few["ndcg"] == many["ndcg"]
    assert few["recall_at_k"] < many["recall_at_k"]


def test_evaluate_looks_at_one_row_at_least(call, folder, write_csv, claims):
    write_csv(folder / "few.csv", claims[:12])
    result = call("evaluate few.csv --target late --score amount --json")
    assert json.loads(result.stdout)["top"] == 1
    assert "no --top: the first 1 of the list is looked at." in result.stderr


def test_datasets_are_listed(call):
    shown = call("datasets")
    assert all(card.name in shown.stdout for card in list_datasets())
    listed = json.loads(call("datasets --json").stdout)["datasets"]
    assert [card["name"] for card in listed] == [card.name for card in list_datasets()]


def test_a_set_is_written_whole(call, folder):
    result = call("datasets wdbc -o wdbc.csv")
    assert "Licence: CC BY 4.0" in result.stderr
    table = read_table("wdbc.csv", target="target")
    X, y = load_wdbc(return_X_y=True)
    np.testing.assert_array_equal(table.matrix(), X)
    np.testing.assert_array_equal(table.y, y)
    assert call("datasets wdbc").stdout == (folder / "wdbc.csv").read_text()
