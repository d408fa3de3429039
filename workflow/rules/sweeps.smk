"""Figures 4 and 5 of paper A: acceptance of RNS-HMC over dimension, hidden units and training points."""

from rnshmc.experiments.sweep import sweep_points

SWEEP = config["sweeps"]
SWEEPS = ["fig4", "fig5"]
SWEEP_POINTS = {name: sweep_points(name, **SWEEP[name]) for name in SWEEPS}
SWEEP_TARGET = {"kind": "logistic", "prior_sd": SWEEP["prior_sd"]}


rule sweep_model:
    """Simulate the logistic regression of one dimension and tune the step size of HMC on it."""
    output:
        data=f"{RESULTS}/sweeps/d{{d}}/data.npz",
        step_size=f"{RESULTS}/sweeps/d{{d}}/step_size.json",
    params:
        code=code("scripts/sweep_model.py"),
        spec=lambda wc: {
            "seed": config["seed"],
            "d": int(wc.d),
            **{key: SWEEP[key] for key in ("observations", "prior_sd", "n_steps", "acceptance", "tuning")},
        },
    wildcard_constraints:
        d=r"\d+",
    log:
        f"{LOGS}/sweeps/d{{d}}/model.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/sweep_model.py"


rule sweep_explore:
    """Run exact HMC on the model of one dimension, from the origin."""
    input:
        data=rules.sweep_model.output.data,
        step_size=rules.sweep_model.output.step_size,
    output:
        chain=f"{RESULTS}/sweeps/d{{d}}/run{{run}}.nc",
    params:
        code=code("scripts/sweep_explore.py", TARGETS["logistic"], KERNELS["hmc"]),
        spec=lambda wc: {
            "seed": config["seed"],
            "d": int(wc.d),
            "run": int(wc.run),
            "target": SWEEP_TARGET,
            "n_steps": SWEEP["n_steps"],
            "iterations": config["iterations"]["discard"]
            + max(
                point.training_points
                for name in SWEEPS
                for point in SWEEP_POINTS[name]
                if point.d == int(wc.d)
            ),
        },
    wildcard_constraints:
        d=r"\d+",
        run=r"\d+",
    log:
        f"{LOGS}/sweeps/d{{d}}/run{{run}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/sweep_explore.py"


rule sweep_point:
    """Measure the acceptance of RNS-HMC at one point: every run of one dimension, size of network and training set."""
    input:
        data=rules.sweep_model.output.data,
        explorations=expand(rules.sweep_explore.output.chain, run=range(1, SWEEP["runs"] + 1), allow_missing=True),
    output:
        point=f"{RESULTS}/sweeps/d{{d}}/s{{hidden_units}}_n{{training_points}}.csv",
    params:
        code=code("scripts/sweep_point.py", TARGETS["logistic"], KERNELS["hmc"], SURROGATES["random_network"]),
        spec=lambda wc: {
            "target": SWEEP_TARGET,
            "point": {key: int(wc[key]) for key in ("d", "hidden_units", "training_points")},
            "settings": {
                "seed": config["seed"],
                "discard": config["iterations"]["discard"],
                "keep": SWEEP["keep"],
                "ridge": SWEEP["ridge"],
            },
        },
    wildcard_constraints:
        d=r"\d+",
        hidden_units=r"\d+",
        training_points=r"\d+",
    log:
        f"{LOGS}/sweeps/d{{d}}/s{{hidden_units}}_n{{training_points}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=60),
    script:
        "../scripts/sweep_point.py"


rule sweep_table:
    """Gather the points of a figure."""
    input:
        points=lambda wc: [
            rules.sweep_point.output.point.format(**point._asdict()) for point in SWEEP_POINTS[wc.sweep]
        ],
    output:
        table=f"{RESULTS}/tables/{{sweep}}.csv",
    params:
        code=code("scripts/sweep_table.py"),
    wildcard_constraints:
        sweep="|".join(SWEEPS),
    log:
        f"{LOGS}/sweeps/{{sweep}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/sweep_table.py"


rule sweep_figures:
    """Draw Figs. 4 and 5."""
    input:
        **{name: rules.sweep_table.output.table.format(sweep=name) for name in SWEEPS},
    output:
        **{
            name: report(
                f"{RESULTS}/figures/{name}.png",
                caption=f"../report/{name}.rst",
                category="Figures",
                labels={"figure": name},
            )
            for name in SWEEPS
        },
        **{f"{name}_pdf": f"{RESULTS}/figures/{name}.pdf" for name in SWEEPS},
    params:
        code=code("scripts/sweep_figures.py"),
        spec={"cuts": {name: SWEEP[name]["cuts"] for name in SWEEPS}},
    log:
        f"{LOGS}/sweeps/figures.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/sweep_figures.py"
