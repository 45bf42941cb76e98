"""What the rest of the front end stands on: places, default dtype, seed, save and load."""
