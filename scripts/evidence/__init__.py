"""The RFC's evidence, measured and rendered."""
