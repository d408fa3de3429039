"""`rnshmc.sample`: draws and expectations for a posterior of one's own, for few exact evaluations."""
