# Parameters and inputs of rules: what determines draws and seconds, as one dictionary each, and files of figures.


def given(problem, *keys):
    """Optional settings of a problem that its entry has, such as the start of explorations."""
    return {key: PROBLEMS[problem][key] for key in keys if key in PROBLEMS[problem]}


def without(settings, *keys):
    """Settings but for some keys."""
    return {key: value for key, value in settings.items() if key not in keys}


def dynamics_of(problem, sampler):
    """Step size and range of steps of a sampler."""
    return {key: PROBLEMS[problem]["samplers"][sampler][key] for key in ("step_size", "n_steps")}


def target_spec(problem):
    """A problem's target, its registry entry and start, and the seed of jobs that evaluate it."""
    return {
        "problem": problem,
        "seed": config["seed"],
        "target": PROBLEMS[problem]["target"],
        "entry": target_entry(problem),
        **given(problem, "start"),
    }


def sampler_spec(wildcards, **more):
    """Everything that determines a sampler's draws, as one dictionary: Snakemake compares parameters without their names."""
    entry = problem_entry(wildcards)["samplers"][wildcards.sampler]
    name = surrogate_of(wildcards.problem, wildcards.sampler)
    spec = {
        "problem": wildcards.problem,
        "sampler": wildcards.sampler,
        "recipe": recipe_name(wildcards.sampler),
        "seed": config["seed"],
        "target": problem_entry(wildcards)["target"],
        "settings": without(entry, "surrogate", "chains", "keep", "block_iterations"),
        "entries": sampler_code(wildcards),
        "explored": training_end(wildcards.problem, name) if name else iterations(wildcards.problem, "explore"),
        **more,
    }
    return {**spec, "surrogate": problem_entry(wildcards)["surrogates"][name]} if name else spec


def timed(problem):
    """The samplers of a problem that are timed: each as it runs, then some once more like the published implementation.

    These are HMC, with its gradients in each step, and with another target RMHMC too, but with our solver, so that
    seconds and effective sample sizes belong to the same sampler.
    """
    baseline = PROBLEMS[problem].get("baseline") or {}
    again = {"hmc"} if baseline else set()
    again |= {"rmhmc"} if "target" in baseline else set()
    plain = [sampler for sampler in samplers(problem) if sampler != AUTO]
    cells = [(sampler, False) for sampler in plain]
    cells += [(sampler, True) for sampler in plain if recipe(sampler).kernel in again]
    return [SimpleNamespace(problem=problem, sampler=sampler, published=published) for sampler, published in cells]


def timed_spec(cell):
    """Everything that determines the seconds of one of the timed samplers."""
    timing = config["timing"]
    lasts = problem_entry(cell)["samplers"][cell.sampler].get("block_iterations", timing["block_iterations"])
    spec = sampler_spec(cell, blocks=timing["blocks"], block_iterations=lasts)
    if not cell.published:
        return spec
    baseline = problem_entry(cell)["baseline"]
    kind = baseline.get("target", spec["target"]["kind"])
    hmc = recipe(cell.sampler).kernel == "hmc"
    return {
        **spec,
        "sampler": as_published(cell.sampler),
        "target": {**spec["target"], "kind": kind},
        "settings": spec["settings"] | ({"gradients_per_step": baseline["gradients_per_step"]} if hmc else {}),
        "entries": [TARGETS[kind], *spec["entries"][1:]],
    }


def receipts(path):
    """Receipts of the raw files behind a processed file, which may have some of the rows or a projection of them."""
    if Path(path).parent == Path(RESULTS, "forward"):
        return PUBLISHED_OBSERVATIONS
    dataset = re.sub(r"_\d+_rows$", "", Path(path).stem)
    dataset = PROJECTED.get(dataset, {}).get("of", dataset)
    return expand(f"{RAW}/{{raw}}.json", raw=FETCHED[dataset]["raw"]) if dataset in FETCHED else []


def read_by_figure(name, problem):
    """The files of an input of a figure: a table of the run, or files of the figure's problem or of all with a page."""
    if name == "chains":
        return sampler_files(problem)
    if name == "forward":
        return data_file(problem)
    if name == "predictions":
        return rules.posterior_predictive.output.predictions.format(problem=problem)
    if name == "metrics":
        return expand(rules.metrics.output.metrics, problem=problem or PAGED)
    return PUBLISHED if name == "published" else f"{RESULTS}/tables/{name}.csv"


def problem_notebook(name):
    """Title, files, figures and parameters of the notebook of a problem."""
    story = project_path(f"workflow/report/problems/{name}.txt")
    figures = {
        drawing.name: drawing for drawing in FIGURES.values() if (drawing.page, drawing.problem) == ("problem", name)
    }
    return {
        "title": TITLES[name],
        "paper": PAPER_OF.get(name, ""),
        "items": [],
        "files": {
            "chain_files": sampler_files(name),
            "metrics_files": [rules.metrics.output.metrics.format(problem=name)],
            **{table: f"{RESULTS}/tables/{table}.csv" for table in ("table1", "diagnostics")},
            "story": [story] if Path(story).exists() else [],
        },
        "figures": {key.removeprefix(f"{name}_"): figure for key, figure in shown(figures, RESULTS).items()},
        "parameters": {"problem": name, **given(name, "names")},
    }
