"""Data of paper B: census, news, games, forests, and what it simulates."""

# Of what is simulated for section 4.3 the paper prints the numbers of observations alone.
GARCH_SERIES = {"observations": 1000, "alpha": [0.015, 0.1, 0.2], "beta": [0.6]}
REGRESSION = {"observations": 500, "noise_sd": 0.15}


rule prepare_census:
    """Encode and standardise both halves of Adult: 48842 x 123 (paper B, section 4.6)."""
    input:
        receipts=RECEIPTS[f"{PROCESSED}/census.npz"],
        summary=f"{STANDINS}/census.csv",
    output:
        data=f"{PROCESSED}/census.npz",
    params:
        code=code("scripts/prepare_census.py"),
        spec={"seed": config["seed"]},
    log:
        "logs/data/prepare_census.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=20),
    script:
        "../scripts/prepare_census.py"


rule prepare_news:
    """Standardise Online News Popularity: 44 columns (paper B, section 4.6)."""
    input:
        receipts=RECEIPTS[f"{PROCESSED}/news.npz"],
    output:
        data=f"{PROCESSED}/news.npz",
    params:
        code=code("scripts/prepare_news.py"),
        spec={"seed": config["seed"]},
    log:
        "logs/data/prepare_news.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/prepare_news.py"


rule prepare_dota2:
    """Standardise Dota2 Games Results: 102944 x 116 (paper B, section 4.6)."""
    input:
        receipts=RECEIPTS[f"{PROCESSED}/dota2.npz"],
    output:
        data=f"{PROCESSED}/dota2.npz",
    params:
        code=code("scripts/prepare_dota2.py"),
        spec={"seed": config["seed"]},
    log:
        "logs/data/prepare_dota2.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=20),
    script:
        "../scripts/prepare_dota2.py"


rule prepare_cover_type:
    """Standardise Cover Type: 581012 rows (paper B, section 4.4)."""
    input:
        receipts=RECEIPTS[f"{PROCESSED}/cover_type.npz"],
    output:
        data=f"{PROCESSED}/cover_type.npz",
    params:
        code=code("scripts/prepare_cover_type.py"),
        spec={"seed": config["seed"]},
    log:
        "logs/data/prepare_cover_type.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=4000, runtime=20),
    script:
        "../scripts/prepare_cover_type.py"


rule simulate_normal_logistic:
    """Simulate a logistic regression with 50000 observations and 200 parameters (paper B, section 4.2)."""
    output:
        data=f"{PROCESSED}/lr_200.npz",
    params:
        code=code("scripts/simulate_normal_logistic.py"),
        spec={"seed": config["seed"], "observations": 50000, "dimension": 200},
    log:
        "logs/data/simulate_normal_logistic.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/simulate_normal_logistic.py"


rule simulate_garch:
    """Simulate a GARCH(2, 1) series of 1000 observations (paper B, section 4.3)."""
    output:
        data=f"{PROCESSED}/garch.npz",
    params:
        code=code("scripts/simulate_garch.py"),
        spec={"seed": config["seed"], **GARCH_SERIES},
    log:
        "logs/data/simulate_garch.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/simulate_garch.py"


rule simulate_regression:
    """Simulate 500 noisy values of a polynomial in four variables (paper B, section 4.3)."""
    output:
        data=f"{PROCESSED}/gp_regression.npz",
    params:
        code=code("scripts/simulate_regression.py"),
        spec={"seed": config["seed"], **REGRESSION},
    log:
        "logs/data/simulate_regression.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/simulate_regression.py"
