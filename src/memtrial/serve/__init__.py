"""The faces of memtrial: thin layers over the same verbs."""
