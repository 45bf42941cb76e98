"""The op records, a file for each family. Importing this package registers them all."""
