"""Speed: whole processes and warm fits of bayescale and of others, on the same data and priors."""
