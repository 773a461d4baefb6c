"""A fit as one HTML file that opens anywhere: `bayescale.reporting.run.report`."""
