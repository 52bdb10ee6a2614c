"""What anonymeter says of tables; run by an interpreter that has it. JSON in, JSON out."""

import json
import sys
import warnings

warnings.simplefilter("ignore")


def counts(evaluator):
    """Successes on the people, on the control and of the baseline, and the risk."""
    risk = evaluator.risk(confidence_level=0.95)
    results = evaluator.results()
    return {"attack": results.attack_rate.value, "control": results.control_rate.value,
            "baseline": results.baseline_rate.value,
            "risk": risk.value, "low": risk.ci[0], "high": risk.ci[1]}


def answers(asked):
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    ori, syn, control = (pd.DataFrame(asked[name]) for name in ("people", "rows", "control"))
    names, n = asked["names"], asked["trials"]
    half = [names[::2], names[1::2]]
    said = {"linkability": LinkabilityEvaluator(ori=ori, syn=syn, control=control, n_attacks=n, aux_cols=half,
                                                n_neighbors=asked["neighbours"]),
            "inference": InferenceEvaluator(ori=ori, syn=syn, control=control, n_attacks=n, aux_cols=names,
                                            secret=asked["secret"]),
            "singling-out": SinglingOutEvaluator(ori=ori, syn=syn, control=control, n_attacks=n, seed=1,
                                                 max_attempts=100 * n)}
    found = {}
    for name, one in said.items():
        one.evaluate(**({"mode": "multivariate"} if name == "singling-out" else {"n_jobs": 1}))
        found[name] = counts(one)
    return found


if __name__ == "__main__":
    print(json.dumps([answers(one) for one in json.load(sys.stdin)]))
