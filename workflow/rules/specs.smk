# Parameters and inputs of rules: what determines draws and seconds, as one dictionary each, and files of figures.


def given(problem, *keys):
    """Optional settings of a problem that its entry has, such as the start of explorations."""
    return {key: PROBLEMS[problem][key] for key in keys if key in PROBLEMS[problem]}


def explore_spec(wildcards):
    """Everything that determines an exploration."""
    name = wildcards.problem
    recorded = {"recorded_from": iterations(name, "discard")} if name in RECORDED else {}
    return {
        "problem": name,
        "chain": chain_number(wildcards),
        "seed": config["seed"],
        "target": problem_entry(wildcards)["target"],
        "hmc": {key: problem_entry(wildcards)["samplers"]["hmc"][key] for key in ("step_size", "n_steps")},
        "entries": [target_entry(wildcards.problem), KERNELS["hmc"]],
        "iterations": iterations(name, "explore"),
        **given(name, "start"),
        **recorded,
    }


def sampler_spec(wildcards, **more):
    """Everything that determines a sampler's draws, as one dictionary: Snakemake compares parameters without their names."""
    entry = problem_entry(wildcards)["samplers"][wildcards.sampler]
    name = surrogate_of(wildcards)
    spec = {
        "problem": wildcards.problem,
        "sampler": wildcards.sampler,
        "recipe": recipe_name(wildcards.sampler),
        "seed": config["seed"],
        "target": problem_entry(wildcards)["target"],
        "settings": {key: value for key, value in entry.items() if key not in RUN_SETTINGS},
        "entries": sampler_code(wildcards),
        "explored": training_end(wildcards.problem, name) if name else iterations(wildcards.problem, "explore"),
        **more,
    }
    return {**spec, "surrogate": problem_entry(wildcards)["surrogates"][name]} if name else spec


def published_spec(wildcards):
    """Everything that determines the seconds of a sampler as published: its own settings and those of the problem's baseline."""
    spec = sampler_spec(wildcards, **timing_settings(wildcards.problem, wildcards.sampler))
    kind, steps = published_target(wildcards), {
        "gradients_per_step": problem_entry(wildcards)["baseline"]["gradients_per_step"]
    }
    return {
        **spec,
        "sampler": as_published(wildcards.sampler),
        "target": {**spec["target"], "kind": kind},
        "settings": spec["settings"] | (steps if recipe(wildcards.sampler).kernel == "hmc" else {}),
        "entries": sampler_code(wildcards, TARGETS[kind]),
    }


def timing_settings(problem, sampler):
    """How long a sampler is timed."""
    timing = config["timing"]
    return {
        "blocks": timing["blocks"],
        "block_iterations": sampler_setting(problem, sampler, "block_iterations", timing["block_iterations"]),
    }


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


def timed_code(problem):
    """Registry entries of everything that is timed on a problem."""
    entries = [
        sampler_code(cell, TARGETS[published_target(cell)] if cell.published else None) for cell in timed(problem)
    ]
    return dict.fromkeys(itertools.chain.from_iterable(entries))


def timing_spec(wildcards):
    """Everything that determines the seconds of a problem's samplers."""
    return {
        "problem": wildcards.problem,
        "seed": config["seed"],
        "blas_threads": config["timing"]["blas_threads"],
        "samplers": [
            (
                published_spec(cell)
                if cell.published
                else sampler_spec(cell, **timing_settings(cell.problem, cell.sampler))
            )
            for cell in timed(wildcards.problem)
        ],
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
        return all_chain_files(rules.sample.output.chain, [problem])
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
            "chain_files": all_chain_files(rules.sample.output.chain, [name]),
            "metrics_files": [rules.metrics.output.metrics.format(problem=name)],
            **run_tables("table1", "diagnostics"),
            "story": [story] if Path(story).exists() else [],
        },
        "figures": {key.removeprefix(f"{name}_"): figure for key, figure in shown(figures, RESULTS).items()},
        "parameters": {"problem": name, **given(name, "names")},
    }
