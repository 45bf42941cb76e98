"""The passes, one file each, named for the syntax they remove. `pipeline.py` has their order."""
