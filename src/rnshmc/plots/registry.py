"""Every figure of a run: its drawing function, the tables that it reads, its settings and its caption.

Functions are named by strings and imported when used, so that an edit of a function redraws only its own figures.
"""

from collections.abc import Mapping

from rnshmc.plots.drawing import Drawing

FIGURES: Mapping[str, Drawing] = {
    "efficiency": Drawing(
        "rnshmc.plots.efficiency:efficiency",
        ("table1", "table1_se"),
        "Minimum ESS over the coordinates, per second and per exact evaluation of the kept iterations, with standard "
        "errors. Numbers are ratios to HMC; there is none where chains of the sampler or of HMC did not mix (R-hat "
        "above 1.1).",
        ("titles",),
    ),
    "acceptance": Drawing(
        "rnshmc.plots.acceptance:acceptance",
        ("metrics", "published"),
        "Acceptance probability over the kept iterations, one mark per chain.{% if papers %} A grey bar is the value "
        "of the paper.{% endif %}",
        ("titles",),
    ),
    "evaluations": Drawing(
        "rnshmc.plots.evaluations:evaluations",
        ("metrics",),
        "Evaluations of the exact potential, its gradient and the surrogate's gradient per kept iteration: costs that "
        "do not depend on the machine. Exact evaluations are filled, those of the surrogate are outlines.",
        ("titles",),
    ),
    "fig1": Drawing(
        "rnshmc.plots.one_dimension:one_dimension",
        ("fig1_points", "fig1"),
        "Surrogates of :math:`x^2/2` (dashed) from 10, 20 and 40 noisy observations at nested standard normal points "
        "(paper A, Fig. 1). Random networks have five hidden units, FITC five inducing points; their lines are "
        "averages over {{ fits }} fits. The noise has standard deviation {{ noise_sd }}. The observations are those "
        "that the authors published, or ours if those were unavailable: the column data of tables/fig1_points.csv "
        "says which.",
    ),
    "fig2": Drawing(
        "rnshmc.plots.banana:banana",
        ("fig2_field", "fig2_trajectories", "fig2_acceptance"),
        "HMC and RNS-HMC on a banana-shaped posterior (paper A, Fig. 2). Left: forces of the exact potential and of "
        "the random network; arrows grow with the logarithm of the force. Middle and right: trajectories from the red "
        "square with the same initial momenta, each in {{ drawn_steps }} leapfrog steps, and the proposals at their "
        "ends; those of the network that leave the panel are cut. The network was trained on the states of iterations "
        "{{ discard + 1 }} to {{ explore }} of an exploration by HMC. Acceptance in {{ steps }} leapfrog steps: mean "
        "and standard error over {{ repeats }} chains of {{ iterations }} iterations. The paper's acceptance has the "
        "sign of the energy error reversed: column reversed_acceptance of ``fig2_acceptance.csv``.",
    ),
    "fig3": Drawing(
        "rnshmc.plots.gaussian_sweep:gaussian_sweep",
        ("fig3",),
        "Surrogates on a Gaussian in {{ dimension }} dimensions with variance {{ wide_variance }} along (1, ..., 1) "
        "and {{ narrow_variance }} across (paper A, Fig. 3): training time, acceptance, and mean ESS per second of "
        "sampling, against the number of training points. Marks are medians over {{ repeats }} repeats, bars and bands "
        "go from the 10% to the 90% quantile, seconds are processor seconds. Exact HMC is the level; its potential "
        "costs next to nothing here, so that no surrogate can be faster. As in the published code, trajectories have "
        "{{ n_steps[0] }} to {{ n_steps[1] }} steps, training of the Gaussian processes begins after the search for "
        "hyperparameters (column search_s of ``fig3.csv``), and FITC's inducing points are drawn from the target.",
    ),
    "fig4": Drawing(
        "rnshmc.plots.sweep:acceptance_sweep",
        ("fig4",),
        "Acceptance probability of RNS-HMC on simulated logistic regressions with {{ config.sweeps.observations }} "
        "observations and d parameters, drawn as in section 5.1 of the paper, one model for each d "
        "({{ config.sweeps.runs }} runs per point; the paper: 10). Left: mean over the runs, by hidden units s and d; "
        "the red outlines mark the cuts shown in the other panels: median and 10-90% of the runs, with the median "
        "of exact HMC. Training set: the {{ grid.training_points[0] }} iterations of exact HMC after the first "
        "{{ config.iterations.discard }}, repeats included; ridge penalty {{ config.sweeps.ridge }}; acceptance "
        "counted over the {{ config.sweeps.keep }} iterations that follow. The step size is tuned once for each d so "
        'that HMC accepts {{ "%.0f" | format(100 * config.sweeps.acceptance) }}%; the number of leapfrog steps is '
        "uniform on {{ config.sweeps.n_steps[0] }} to {{ config.sweeps.n_steps[1] }}, as for the logistic regression "
        "of Table 1. The paper gives neither observations, training points, ridge penalty nor leapfrog steps; these "
        "are ours. A quadratic in d variables has (d + 1)(d + 2)/2 coefficients: 561 for d = 32, 1326 for d = 50, 2145 "
        "for d = 64.",
        ("cuts",),
    ),
    "fig5": Drawing(
        "rnshmc.plots.sweep:acceptance_sweep",
        ("fig5",),
        "Acceptance probability of RNS-HMC on a simulated logistic regression with {{ config.sweeps.observations }} "
        "observations and {{ grid.d[0] }} parameters ({{ config.sweeps.runs }} runs per point; the paper: 10). Left: "
        "mean over the runs, by hidden units s and training points N; the red outlines mark the cuts shown in the "
        "other panels: median and 10-90% of the runs, with the median of exact HMC. Training set: the N "
        "iterations of exact HMC after the first {{ config.iterations.discard }}, repeats included, so that the sets "
        "of one run are nested; the chain continues from the last of them for {{ config.sweeps.keep }} iterations. The "
        "other settings are those of Fig. 4. Acceptance dips where a training set has about as many distinct states "
        "as the network has hidden units: the fit just interpolates them, and the small ridge penalty does not keep "
        "the weights small.",
        ("cuts",),
    ),
    "fig6": Drawing(
        "rnshmc.plots.marginals:marginals",
        ("fig6",),
        "One- and two-dimensional posterior marginals of five coefficients by HMC and by RNS-HMC, overlaid (paper A, "
        "Fig. 6). Contours contain 50% and 90% of the posterior.",
        ("target", "title"),
    ),
    "fig7": Drawing(
        "rnshmc.plots.training_acceptance:acceptance_by_training",
        ("fig7",),
        "Acceptance of ARNS-HMC against the number of training points (paper A, Fig. 7): median over chains, and a "
        "band that contains 90% of them. The dashed red line is the mean acceptance of HMC. Each point averages the "
        "acceptance probabilities of a window of iterations, whose length is the column ``window`` of ``fig7.csv``.",
        ("titles",),
    ),
    "fig8": Drawing(
        "rnshmc.plots.error_by_time:error_by_time",
        ("fig8",),
        "Relative error of the posterior mean against running time (paper A, Fig. 8): medians over chains at equal "
        "seconds, with bands from the lowest to the highest chain. The clock starts with the chain; exploration and "
        "fit count, at the seconds that the timing stage measured. The mean is that of all states since the beginning "
        "of the training set. A mark is where a surrogate takes over; until then every sampler is HMC. All lines end "
        "with the first sampler that is through.",
        ("titles",),
    ),
    "nng_fig1": Drawing(
        "rnshmc.plots.training_schedule:training_schedule",
        ("nng_fig1",),
        "Processor seconds by draws of one chain with a schedule of training (paper B, section 3 and Fig. 1): HMC for "
        "{{ schedule.start }} draws, a training of the network every {{ schedule.every }} from then to "
        "{{ schedule.end }}, each followed by {{ schedule.trial }} draws with it. Once its acceptance is at most "
        "{{ schedule.tolerance }} below that of HMC, the network draws the rest. The other line has the seconds per "
        "draw of HMC in the same chain.",
        ("title",),
    ),
    "nng_fig2": Drawing(
        "rnshmc.plots.network_banana:network_banana",
        ("nng_fig2_field", "nng_fig2_draws", "nng_fig2_trajectories", "nng_fig2_acceptance"),
        "HMC and NNg-HMC on the banana-shaped distribution of paper B, eq. (23), with A = {{ scale1 }}, "
        "C = {{ scale2 }}, B = {{ bend }}, which the paper does not print (paper B, Fig. 2). Top: thinned draws of all "
        "chains of each sampler. Bottom left: forces of the exact gradient (broad arrows) and of the network (narrow "
        "arrows), growing with the logarithm of the force. Bottom right: trajectories from the red squares with the "
        "same initial momenta, in {{ drawn_steps }} leapfrog steps of {{ drawn_step_size }}. The network was trained "
        "on the gradients along the trajectories of the first {{ training }} iterations of HMC, except those that "
        "diverged. Acceptance at step size {{ step_size }}: mean and standard error over "
        "{{ repeats }} chains of {{ iterations }} iterations, which start at draws of the distribution. Chains remain "
        "for long in its ends, where leapfrog is unstable, so that acceptance varies widely between them. Contours are "
        "at 1 to 4 standard deviations.",
    ),
    "nng_fig3": Drawing(
        "rnshmc.plots.network_gaussian:network_gaussian",
        ("nng_fig3_draws", "nng_fig3_acceptance"),
        "HMC and NNg-HMC on a Gaussian in {{ dimension }} dimensions with variances from {{ smallest }} to "
        "{{ largest }}, in its narrowest and its widest coordinate (paper B, Fig. 3); the two axes have very different "
        "scales, which are the same in both panels. The network was trained on the gradients along the trajectories of "
        "{{ collected }} iterations of HMC started at a draw of the Gaussian. Thinned draws of all chains of each "
        "sampler; acceptance at step size {{ step_size }}: mean and standard error over {{ repeats }} chains of "
        "{{ iterations }} iterations.",
        ("smallest", "largest"),
    ),
    "nng_fig4": Drawing(
        "rnshmc.plots.prior_swap:prior_swap",
        ("nng_fig4_draws", "nng_fig4_acceptance"),
        "Draws of two coefficients of a logistic regression in 200 dimensions by HMC (left) and by NNg-HMC (right), "
        "under the prior used for training the network and under one with standard deviation "
        '{{ "%.3g" | format(prior_sd) }}, where the difference of the priors\' gradients is added to the same network '
        "(paper B, Fig. 4). The two coefficients are those with the largest absolute posterior means under the first "
        "prior. Chains under the second prior start at the end of the exploration under the first; their first "
        "{{ burn_in }} iterations are discarded. At most 1000 evenly spaced draws of each are shown; under the second "
        "prior, where few of its proposals are accepted, NNg-HMC ran ten times as many iterations as HMC.",
        ("title",),
    ),
    "nng_fig5": Drawing(
        "rnshmc.plots.training_losses:training_losses",
        ("nng_fig5",),
        "Training loss of gradient networks of three designs on the gradients of the same explorations (paper B, "
        'Fig. 5): {% for name, design in designs.items() %}{{ ", " if not loop.first }}{{ name }} with '
        '{{ design.blocks }} hidden layer{{ "s" if design.blocks > 1 }} of {{ design.hidden_units }} units'
        "{% endfor %}. The loss is half the mean squared error of the gradient's components. Lines are means over the "
        "explorations, bands extend from the lowest to the highest. Adam's step size is constant: once a step is as "
        "large as the remaining error, losses stop falling, fluctuate, and may rise a little.",
        ("title",),
    ),
    "nng_fig6": Drawing(
        "rnshmc.plots.series:series",
        ("nng_fig6",),
        "The simulated series whose GARCH(2, 1) model is sampled (paper B, Fig. 6).",
        ("title",),
    ),
    "nng_fig7": Drawing(
        "rnshmc.plots.hyperparameters:hyperparameters",
        ("nng_fig7",),
        "Posterior densities of the hyperparameters of a Gaussian process regression by HMC and by NNg-HMC (paper B, "
        "Fig. 7). The chains sample their logarithms.",
        ("title",),
    ),
    "nng_fig8": Drawing(
        "rnshmc.plots.predictions:predictions",
        ("nng_fig8",),
        "Posterior predictions of a Gaussian process regression along the first input, with the others at 0, from "
        "draws of HMC and of NNg-HMC (paper B, Fig. 8): mean of the process and a band that contains it with "
        "probability 0.9 at each point, over at most 100 draws of the hyperparameters.",
        ("title",),
    ),
    "nng_fig9": Drawing(
        "rnshmc.plots.histograms:coefficient_histograms",
        ("nng_fig9",),
        "Histograms of the draws of two coefficients, on a logarithmic scale, of the logistic regression on Cover Type "
        "with a Laplace prior (paper B, Fig. 9), a row for each sampler over HMC in grey: NNg-HMC, which samples the "
        "posterior, and SGHMC "
        'without correction at leapfrog steps of {% for name, entry in samplers.items() if "friction" in entry %}'
        '{{ ", " if not loop.first }}{{ entry.step_size }} '
        '({{ name | replace("sghmc_", "") }}){% endfor %}; their squares are what the paper calls step sizes. The axis '
        "is wide enough for the narrowest histogram of SGHMC; the others extend beyond it. The two coefficients are "
        "those with the largest absolute posterior means by HMC.",
        ("title",),
    ),
    "nng_fig10": Drawing(
        "rnshmc.plots.trace_rows:trace_rows",
        ("nng_fig10",),
        "Traces of a coefficient of the logistic regression on Cover Type by NNg-HMC, by SGHMC with "
        "Metropolis-Hastings correction (paper B, Fig. 10), and by SGHMC without correction: the first chain of each, "
        "for the number of iterations that all have. Titles give the acceptance. Without correction the chain moves "
        "much farther, so its axis has another scale. The coefficient is the first of Fig. 9.",
        ("title",),
    ),
    "scaling": Drawing(
        "rnshmc.plots.scaling:scaling",
        ("scaling",),
        'Seconds and speed-up on {{ ranks | join(" and ") }} MPI ranks of one machine, {{ repeats }} '
        "repeats: the elliptic model solved at {{ ensemble.states }} independent states, with an adjoint solve for the "
        "gradient (for the finite differences at {{ ensemble.checked }} of them, without); a logistic regression "
        "with {{ logistic.rows }} rows in {{ logistic.dimension }} dimensions, with rows shared among the ranks and "
        "one Allreduce per evaluation ({{ logistic.evaluations }} repeats), and a chain of "
        "{{ logistic.iterations }} iterations of HMC on it, once. Dots are repeats, lines connect their medians; "
        "hollow dots were measured while other processes used the machine. The solves give identical bytes on any "
        "number of ranks, the logistic regression identical numbers to 1e-10 (tables/scaling_agreement.csv); the "
        "solves' gradients agree with central differences (tables/gradient_check.csv).",
    ),
    "mesh_study": Drawing(
        "rnshmc.plots.mesh_study:mesh_study",
        ("mesh_study",),
        "The elliptic problem on finer meshes. Left: largest error of the pressure at the sensors, for c = 1 compared "
        "with the closed form, and at {{ states }} states of the posterior compared with the finest mesh (which makes "
        "the last order appear better than it is). Middle: seconds for the potential and its gradient, that is, one "
        "factorisation or multigrid set-up and two solves, by PETSc's Cholesky factorisation on one rank, that of "
        "MUMPS on several, or conjugate gradients with hypre's multigrid on either. Right: ESS per second of RNS-HMC "
        "relative to HMC. Iterations are timed on each mesh; ESS per iteration and the surrogate are those of the "
        "chains on the problem's own mesh, since the posterior hardly changes (column potential_shift of the table). "
        "Hollow marks were timed while other processes used the machine.",
    ),
}
"""The figures of a run, by name."""

PROBLEM_FIGURES: Mapping[str, Drawing] = {
    "traces": Drawing(
        "rnshmc.plots.traces:traces",
        ("chains",),
        "Traces of the last 500 kept draws of the first chain of each sampler on {{ problem }}.",
        ("target", "title"),
    ),
    "marginals": Drawing(
        "rnshmc.plots.marginals:marginals_of_chains",
        ("chains",),
        "One- and two-dimensional posterior marginals of five coordinates of {{ problem }}, all samplers overlaid "
        "(paper A, Fig. 6). Contours contain 50% and 90% of the posterior.",
        ("target", "title"),
    ),
    "autocorrelation": Drawing(
        "rnshmc.plots.autocorrelation:autocorrelations",
        ("chains",),
        "Autocorrelation of the kept draws on {{ problem }}, averaged over chains: the median of the coordinates, "
        "shaded from the least to the most correlated one.",
        ("title",),
    ),
    "acceptance": FIGURES["acceptance"],
    "field": Drawing(
        "rnshmc.plots.field:diffusion_fields",
        ("chains", "forward"),
        "Logarithm of the diffusion field of {{ problem }}: the truth, where the observations were simulated, mean and "
        "standard deviation by the first sampler, and the differences of the other samplers from it. Dots are the "
        "points where the pressure was observed.",
        ("target", "title"),
    ),
}
"""The figures of one problem; the field is that of an elliptic one."""
