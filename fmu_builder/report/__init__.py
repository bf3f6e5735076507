"""Pictures and pages of results: figures, animations, plots, the report of cases."""
