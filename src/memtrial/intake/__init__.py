"""How text becomes a memory: the nine-section narrative, its validator, and the defences of text."""
