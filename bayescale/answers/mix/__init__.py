"""The best mixture of sources under a budget; see `bayescale.answers.mix.run.mix`."""
