"""Experiments of paper A: surrogates on small distributions (Figs. 1 to 3), acceptance over a grid (Figs. 4 and 5), a higher
dimension of a9a (section 5.1).
"""

from rnshmc.experiments.sweep import sweep_points

EXPERIMENTS = config["experiments"]
FIG3_SURROGATES = EXPERIMENTS["fig3"]["surrogates"]
# Exact HMC needs no training.
FIG3_POINTS = [("hmc", 0), *((method, size) for method in FIG3_SURROGATES for size in EXPERIMENTS["fig3"]["sizes"])]
# Registry entries of each sampler's kernel and surrogate.
ENTRIES = {"hmc": [KERNELS["hmc"]]} | {
    sampler: [KERNELS[recipe(sampler).kernel], SURROGATES[recipe(sampler).surrogate]]
    for sampler in sorted({name for figure in EXPERIMENTS.values() for name in figure.get("surrogates", {})})
}
FIG1_ENTRIES = [SURROGATES[recipe(sampler).surrogate] for sampler in EXPERIMENTS["fig1"]["surrogates"]]
# Names that experiment.py imports: a function of an experiment's settings, or a class and the function of the same module
# that runs it.
FIG1 = "rnshmc.experiments.one_dimension:one_dimension"
PROJECTION = "rnshmc.experiments.projection:acceptance_by_dimension"
FIG3 = {"experiment": "rnshmc.experiments.gaussian_sweep:GaussianSweep", "run": "sweep_point"}


rule table_fig1:
    """Fit surrogates to few observations of a parabola."""
    input:
        published=[f"{RAW}/fig1-observations.json"] if EXPERIMENTS["fig1"]["published"] else [],
    output:
        points=f"{RESULTS}/tables/fig1_points.csv",
        curves=f"{RESULTS}/tables/fig1.csv",
        errors=f"{RESULTS}/tables/fig1_errors.csv",
    resources:
        **demand(mem_mb=1000, runtime=20),
    params:
        code=code("scripts/experiment.py", *FIG1_ENTRIES, FIG1),
        spec={
            "seed": config["seed"],
            "experiment": FIG1,
            "readers": {"published": "rnshmc.experiments.one_dimension:read_points"},
            "settings": without(EXPERIMENTS["fig1"], "published"),
        },
    script:
        "../scripts/experiment.py"


# HMC and another sampler on a small distribution: the sampler, the tables, and the names as above.
BESIDE_HMC = {
    # A banana-shaped posterior.
    "fig2": (
        "rns_hmc",
        ("field", "trajectories", "acceptance"),
        {"experiment": "rnshmc.experiments.banana:BananaExperiment", "run": "run_banana"},
    ),
    # A banana-shaped distribution.
    "nng_fig2": (
        "nng_hmc",
        ("field", "draws", "trajectories", "acceptance"),
        {"experiment": "rnshmc.experiments.network_banana:NetworkBanana", "run": "run_network_banana"},
    ),
    # An ill-conditioned Gaussian.
    "nng_fig3": (
        "nng_hmc",
        ("draws", "acceptance"),
        {"experiment": "rnshmc.experiments.network_gaussian:NetworkGaussian", "run": "run_network_gaussian"},
    ),
}
for figure, (sampler, tables, names) in BESIDE_HMC.items():

    rule:
        """Run HMC and another sampler on a small distribution."""
        name:
            f"table_{figure}"
        output:
            **{table: f"{RESULTS}/tables/{figure}_{table}.csv" for table in tables},
        resources:
            **demand(mem_mb=1000, runtime=20),
        params:
            code=code("scripts/experiment.py", *ENTRIES["hmc"], *ENTRIES[sampler], names["experiment"]),
            spec={
                "seed": config["seed"],
                "settings": without(EXPERIMENTS[figure], "surrogates"),
                "arguments": {"settings": EXPERIMENTS[figure]["surrogates"][sampler]},
                **names,
            },
        script:
            "../scripts/experiment.py"


rule fig3_point:
    """Train and run one sampler with training sets of one size, all repeats."""
    output:
        table=f"{RESULTS}/experiments/fig3/{{method}}/n{{size}}.csv",
    wildcard_constraints:
        method="|".join(["hmc", *FIG3_SURROGATES]),
    resources:
        **demand(mem_mb=2000, runtime=60),
    params:
        code=lambda wc: code("scripts/experiment.py", *ENTRIES[wc.method], FIG3["experiment"]),
        spec=lambda wc: {
            "seed": config["seed"],
            "settings": without(EXPERIMENTS["fig3"], "surrogates", "sizes", "repeats"),
            "arguments": {
                "sampler": wc.method,
                "size": int(wc.size),
                "repeats": EXPERIMENTS["fig3"]["repeats"],
                "settings": FIG3_SURROGATES.get(wc.method),
            },
            **FIG3,
        },
    script:
        "../scripts/experiment.py"


rule table_fig3:
    """Gather the points of Fig. 3."""
    input:
        points=[rules.fig3_point.output.table.format(method=method, size=size) for method, size in FIG3_POINTS],
    output:
        table=f"{RESULTS}/tables/fig3.csv",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={"columns": {}},
    script:
        "../scripts/gather.py"


SWEEP = config["sweeps"]
SWEEPS = ["fig4", "fig5"]
SWEEP_POINTS = {name: sweep_points(name, **SWEEP[name]) for name in SWEEPS}
SWEEP_TARGET = {"kind": "logistic", "prior_sd": SWEEP["prior_sd"]}


rule sweep_model:
    """Simulate the logistic regression of one dimension and tune the step size of HMC on it."""
    output:
        data=f"{RESULTS}/sweeps/d{{d}}/data.npz",
        step_size=f"{RESULTS}/sweeps/d{{d}}/step_size.json",
    resources:
        **demand(mem_mb=1000, runtime=20),
    params:
        spec=lambda wc: {
            "seed": config["seed"],
            "d": int(wc.d),
            **{key: SWEEP[key] for key in ("observations", "prior_sd", "n_steps", "acceptance", "tuning")},
        },
    script:
        "../scripts/sweep_model.py"


rule sweep_explore:
    """Run exact HMC on the model of one dimension, from the origin."""
    input:
        data=rules.sweep_model.output.data,
        step_size=rules.sweep_model.output.step_size,
    output:
        chain=f"{RESULTS}/sweeps/d{{d}}/run{{run}}.nc",
    resources:
        **demand(mem_mb=1000, runtime=20),
    params:
        code=code("scripts/sweep_explore.py", TARGETS["logistic"], KERNELS["hmc"]),
        spec=lambda wc: {
            "seed": config["seed"],
            "d": int(wc.d),
            "run": int(wc.run),
            "target": SWEEP_TARGET,
            "n_steps": SWEEP["n_steps"],
            "iterations": config["iterations"]["discard"]
            + max(point.training_points for name in SWEEPS for point in SWEEP_POINTS[name] if point.d == int(wc.d)),
        },
    script:
        "../scripts/sweep_explore.py"


rule sweep_point:
    """Measure the acceptance of RNS-HMC at one point: every run of one dimension, size of network and training set."""
    input:
        data=rules.sweep_model.output.data,
        explorations=expand(rules.sweep_explore.output.chain, run=range(1, SWEEP["runs"] + 1), allow_missing=True),
    output:
        point=f"{RESULTS}/sweeps/d{{d}}/s{{hidden_units}}_n{{training_points}}.csv",
    resources:
        **demand(mem_mb=2000, runtime=60),
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
    script:
        "../scripts/sweep_point.py"


use rule table_fig3 as table_sweep with:
    """Gather the points of Figs. 4 and 5."""
    input:
        points=lambda wc: [rules.sweep_point.output.point.format(**point._asdict()) for point in SWEEP_POINTS[wc.sweep]],
    output:
        table=f"{RESULTS}/tables/{{sweep}}.csv",
    wildcard_constraints:
        sweep="|".join(SWEEPS),
    params:
        spec=lambda wc: {"columns": {"figure": wc.sweep}},


rule a9a_dimension:
    """Run HMC and RNS-HMC on a9a projected to the dimension of Table 1 and to a higher one."""
    input:
        data=f"{PROCESSED}/a9a_encoded.npz",
    output:
        table=f"{RESULTS}/tables/a9a_dimension.csv",
    resources:
        **demand(mem_mb=2000, runtime=60),
    params:
        code=code("scripts/experiment.py", KERNELS["hmc"], SURROGATES["random_network"], PROJECTION),
        spec=lambda wc: {
            "seed": config["seed"],
            "experiment": PROJECTION,
            "readers": {"data": "rnshmc.datasets.matrix:LogisticData.load"},
            "settings": {
                **EXPERIMENTS["projection"],
                "prior_sd": config["problems"]["a9a"]["target"]["prior_sd"],
                "discard": config["iterations"]["discard"],
                "settings": {
                    **dynamics_of("a9a", "hmc"),
                    "explore_iterations": config["iterations"]["explore"],
                    "iterations": config["iterations"]["keep"],
                    "surrogate": {
                        key: config["problems"]["a9a"]["surrogates"]["random_network"][key]
                        for key in ("hidden_units", "ridge")
                    },
                },
            },
        },
    script:
        "../scripts/experiment.py"


# Searches for settings that are not printed; no other rule needs them: `snakemake --cores 2 searches`. A benchmark prints
# a table; a variant is a run with the settings of its file, some of whose tables are copied.
SEARCHED = {
    "bank_rmhmc": [f"{PROCESSED}/bank.npz"],
    "fig5_settings": [],
    "network_gp": [],
    "network_training": [],
    "table3_settings": [f"{RAW}/covertype.json"],
    "table5_settings": [f"{PROCESSED}/{name}.npz" for name in ("news", "census", "dota2")],
}
VARIANTS = {
    "fig3_drawn_steps": ["tables/fig3.csv"],
    "fig5_fewer_observations": ["sweeps/d32/s1000_n500.csv", "sweeps/d32/s1000_n2000.csv"],
    "news_epochs": ["metrics/news.json"],
    "nng_fig3_converged": ["tables/nng_fig3_acceptance.csv"],
    "nng_standardised": ["tables/nng_fig2_acceptance.csv", "tables/nng_fig3_acceptance.csv", "metrics/garch.json"],
    "pde_prior_training": ["metrics/pde.json"],
    "pde_triangles": ["metrics/pde.json"],
}


rule search:
    """Run a benchmark that searches settings, and keep the table that it prints."""
    input:
        data=lambda wc: SEARCHED[wc.search],
        benchmark=project_path("benchmarks/{search}.py"),
    output:
        table=f"{RESULTS}/searches/{{search}}.txt",
    wildcard_constraints:
        search=one_of(SEARCHED),
    resources:
        **demand(mem_mb=4000, runtime=120),
    shell:
        "python {input.benchmark:q} > {output.table} 2> {log}"


rule variant:
    """Run a variant of the papers' run, and keep its tables."""
    input:
        settings=project_path("config/variants/{variant}.yaml"),
    output:
        tables=directory(f"{RESULTS}/searches/{{variant}}"),
    wildcard_constraints:
        variant=one_of(VARIANTS),
    threads: workflow.cores
    resources:
        **demand(mem_mb=4000, runtime=240),
    params:
        snakefile=project_path("Snakefile"),
        tables=lambda wc: [f"results/{wc.variant}/{name}" for name in VARIANTS[wc.variant]],
    shell:
        # The folder is locked by the workflow that runs this; the two make different files.
        "python -m snakemake --nolock --snakefile {params.snakefile:q} --cores {threads} --configfile {input.settings:q}"
        " -- {params.tables} > {log} 2>&1 && mkdir -p {output.tables} && cp {params.tables} {output.tables}"


rule searches:
    """All searches."""
    input:
        expand(rules.search.output.table, search=SEARCHED),
        expand(rules.variant.output.tables, variant=VARIANTS),
