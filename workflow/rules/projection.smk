"""What a higher dimension of a9a costs: a statement of section 5.1 of paper A."""


rule a9a_dimension:
    """Run HMC and RNS-HMC on a9a projected to the dimension of Table 1 and to a higher one."""
    input:
        encoded=f"{PROCESSED}/a9a_encoded.npz",
    output:
        table=f"{RESULTS}/tables/a9a_dimension.csv",
    params:
        code=code("scripts/a9a_dimension.py", KERNELS["hmc"], SURROGATES["random_network"]),
        spec=lambda wc: {
            "entries": [KERNELS["hmc"], SURROGATES["random_network"]],
            "experiment": {
                **EXPERIMENTS["projection"],
                "prior_sd": config["problems"]["a9a"]["target"]["prior_sd"],
                "discard": config["iterations"]["discard"],
                "seed": config["seed"],
                "settings": {
                    **{key: config["problems"]["a9a"]["samplers"]["hmc"][key] for key in ("step_size", "n_steps")},
                    "explore_iterations": config["iterations"]["explore"],
                    "iterations": config["iterations"]["keep"],
                    "surrogate": {
                        key: config["problems"]["a9a"]["surrogates"]["random_network"][key]
                        for key in ("hidden_units", "ridge")
                    },
                },
            },
        },
    log:
        f"{LOGS}/a9a_dimension.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=60),
    script:
        "../scripts/a9a_dimension.py"
